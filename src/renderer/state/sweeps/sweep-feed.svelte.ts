/**
 * Answers about sweeps that follow them: read again when a sweep or one of the runs in progress has
 * changed, one read at a time and at most twice a second.
 */
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { Connection } from '../host/host-connection.ts';

const PAUSE_MS = 500;

export class SweepFeed<Answer> {
  readonly #read: () => Promise<Answer>;
  readonly #stops: readonly (() => void)[];
  #answer = $state.raw<Answer>();
  #error = $state.raw<ErrorData>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isReading = false;
  #isStale = false;
  #isClosed = false;

  /** @param follows whether a run's change may change the answer */
  constructor(
    connection: Connection,
    read: () => Promise<Answer>,
    follows: (run: string) => boolean = () => false,
  ) {
    this.#read = read;
    this.#stops = [
      connection.on('sweepsChanged', () => this.look()),
      connection.on('runChanged', ({ id }) => {
        if (follows(id)) this.look();
      }),
      connection.on('historyPurged', () => this.look()),
      connection.on('resync', () => this.look()),
    ];
    this.look();
  }

  get answer(): Answer | undefined {
    return this.#answer;
  }

  get error(): ErrorData | undefined {
    return this.#error;
  }

  /** Reads again, now or after the pause. */
  look(): void {
    if (this.#isClosed) return;
    this.#isStale = true;
    if (this.#timer !== undefined || this.#isReading) return;
    void this.#readNow();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const stop of this.#stops) stop();
  }

  async #readNow(): Promise<void> {
    this.#isReading = true;
    this.#isStale = false;
    try {
      const answer = await this.#read();
      if (!this.#isClosed) {
        this.#answer = answer;
        this.#error = undefined;
      }
    } catch (thrown) {
      const error = toErrorData(thrown);
      // What was asked for is there no longer.
      if (error.kind === 'input') this.#answer = undefined;
      this.#error = error;
    } finally {
      this.#isReading = false;
    }
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#isStale) void this.#readNow();
    }, PAUSE_MS);
  }
}
