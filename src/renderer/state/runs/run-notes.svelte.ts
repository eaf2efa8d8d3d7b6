/** A run's notes as a page shows them, read again whenever they have changed. */
import type { AppApi } from '../../../shared/rpc/rpc.ts';
import type { NoteDraft, RunNote } from '../../../shared/run-query/run-note.ts';
import type { Toasts } from '../page/toasts.svelte.ts';

export class RunNotes {
  readonly #run: string;
  readonly #api: AppApi;
  readonly #toasts: Toasts;
  #notes = $state.raw<readonly RunNote[]>([]);
  #read: number | undefined;

  constructor(run: string, api: AppApi, toasts: Toasts) {
    this.#run = run;
    this.#api = api;
    this.#toasts = toasts;
  }

  /** Notes on the whole run first, then by iteration. */
  get all(): readonly RunNote[] {
    return this.#notes;
  }

  /** Reads the notes of a state of the run's annotations, once. */
  async follow(annotated: number | undefined): Promise<void> {
    if (annotated === this.#read) return;
    this.#read = annotated;
    const isRead = await this.#try(async () => {
      const notes = await this.#api.notes(this.#run);
      // Those of a later state may have come first.
      if (this.#read === annotated) this.#notes = notes;
    });
    // The next summary has them read, one after a lost connection at the latest.
    if (!isRead && this.#read === annotated) this.#read = undefined;
  }

  /** @returns whether it is written */
  async write(draft: NoteDraft): Promise<boolean> {
    return this.#try(async () => {
      await this.#api.writeNote(this.#run, draft);
    });
  }

  /** Removes a note, and offers to write it again. */
  async remove(id: number): Promise<void> {
    await this.#try(async () => {
      const { iteration, text } = await this.#api.removeNote(this.#run, id);
      this.#toasts.info('Removed the note', {
        title: 'Undo',
        run: () => {
          void this.write(iteration === undefined ? { text } : { text, iteration });
        },
      });
    });
  }

  async #try(action: () => Promise<void>): Promise<boolean> {
    try {
      await action();
      return true;
    } catch (error) {
      this.#toasts.error(error);
      return false;
    }
  }
}
