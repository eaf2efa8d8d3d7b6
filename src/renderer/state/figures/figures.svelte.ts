/** Figures of papers on the page: the list, asked for again while one is being reproduced. */
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { FigureBegin, FigureStatus } from '../../../shared/rpc/figure-status.ts';
import type { AppApi } from '../../../shared/rpc/rpc.ts';

const LOOK_MS = 1000;

type FiguresApi = Pick<AppApi, 'figures' | 'startFigure' | 'stopFigure'>;
/** The part of a connection that figures need. */
interface FiguresLine {
  readonly api: FiguresApi;
  on(event: 'resync', listener: () => void): () => void;
}

export class Figures {
  readonly #api: FiguresApi;
  readonly #stop: () => void;
  #all = $state.raw<readonly FigureStatus[]>();
  #error = $state.raw<ErrorData>();
  #looking: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(line: FiguresLine) {
    this.#api = line.api;
    this.#stop = line.on('resync', () => void this.load());
  }

  /** All figures; undefined until they are known. */
  get all(): readonly FigureStatus[] | undefined {
    return this.#all;
  }

  get error(): ErrorData | undefined {
    return this.#error;
  }

  /** The figure that is being reproduced. */
  get running(): FigureStatus | undefined {
    return this.#all?.find(({ running }) => running !== undefined);
  }

  async load(): Promise<void> {
    clearTimeout(this.#looking);
    try {
      this.#all = await this.#api.figures();
      this.#error = undefined;
    } catch (thrown) {
      this.#error = toErrorData(thrown);
    }
    clearTimeout(this.#looking);
    if (this.#isClosed || this.running === undefined) return;
    this.#looking = setTimeout(() => void this.load(), LOOK_MS);
  }

  async start(figure: string, begin: FigureBegin): Promise<void> {
    await this.#do(this.#api.startFigure(figure, begin));
  }

  async stop(): Promise<void> {
    await this.#do(this.#api.stopFigure());
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
    clearTimeout(this.#looking);
  }

  async #do(asked: Promise<void>): Promise<void> {
    let refused: ErrorData | undefined;
    try {
      await asked;
    } catch (thrown) {
      refused = toErrorData(thrown);
    }
    await this.load();
    this.#error = refused ?? this.#error;
  }
}
