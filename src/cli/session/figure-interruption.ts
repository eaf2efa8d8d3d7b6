/**
 * Signals while the runs of a figure are made. Following a run stops it (`follow-run.ts`); this
 * remembers that no other is to be started, also where a signal comes between two runs.
 */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export class FigureInterruption implements Disposable {
  #exitCode: number | undefined;
  readonly #listeners = Object.entries(EXIT_CODES).map(([name, code]) => ({
    name: name as keyof typeof EXIT_CODES,
    listener: (): void => {
      this.#exitCode ??= code;
    },
  }));
  /** The reader has closed the pipe. */
  readonly #outputError = (error: NodeJS.ErrnoException): void => {
    if (error.code === 'EPIPE') this.#exitCode ??= 0;
  };

  constructor() {
    for (const { name, listener } of this.#listeners) process.on(name, listener);
    process.stdout.on('error', this.#outputError);
  }

  /** The exit code of a command that was interrupted; undefined if it is to continue. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  [Symbol.dispose](): void {
    for (const { name, listener } of this.#listeners) process.off(name, listener);
    process.stdout.off('error', this.#outputError);
  }
}
