/** The folder that a page shows, of the computer on which the app runs. The last one asked for counts. */
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { FolderListing } from '../../../shared/rpc/folder-listing.ts';
import type { AppApi } from '../../../shared/rpc/rpc.ts';

export class FolderBrowser {
  readonly #api: Pick<AppApi, 'folder'>;
  #listing = $state.raw<FolderListing>();
  #error = $state.raw<ErrorData>();
  #isReading = $state(false);
  #question = 0;

  constructor(api: Pick<AppApi, 'folder'>) {
    this.#api = api;
  }

  /** The last folder that could be read. */
  get listing(): FolderListing | undefined {
    return this.#listing;
  }

  /** The reason why the folder that was asked for last cannot be read. */
  get error(): ErrorData | undefined {
    return this.#error;
  }

  get isReading(): boolean {
    return this.#isReading;
  }

  /** Forgets what was read: of another time, it may be gone. */
  forget(): void {
    this.#question++;
    this.#listing = undefined;
    this.#error = undefined;
    this.#isReading = false;
  }

  /**
   * Reads a folder; empty: the user's home.
   * @returns its absolute path; undefined if it cannot be read, or another one was asked for since
   */
  async open(path: string): Promise<string | undefined> {
    const mine = ++this.#question;
    this.#isReading = true;
    try {
      const listing = await this.#api.folder(path);
      if (mine !== this.#question) return undefined;
      this.#listing = listing;
      this.#error = undefined;
      return listing.path;
    } catch (thrown) {
      if (mine === this.#question) this.#error = toErrorData(thrown);
      return undefined;
    } finally {
      if (mine === this.#question) this.#isReading = false;
    }
  }
}
