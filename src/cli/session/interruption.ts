/** Signals, and the end of stdout, while a command follows a run or a sweep. */
import type { GradwireError } from '../../shared/errors/errors.ts';
import { outputFailed } from '../text/output-failed.ts';
import { reportError } from '../text/report-error.ts';

const EXIT_INTERRUPTED = 130;
const EXIT_TERMINATED = 143;

/**
 * The same Ctrl-C may arrive more than once: from the terminal, and passed on by npm or
 * by the process that started this one. What comes within this time is one.
 */
const SAME_INTERRUPT_MS = 500;

interface InterruptionOptions {
  /** `run`: what is followed stops on Ctrl-C. `attach`: it is left. */
  readonly mode: 'run' | 'attach';
  /** Says what is being done; default: a line on stderr. */
  readonly say?: ((text: string) => void) | undefined;
}

export class Interruption {
  /** Resolves when what is followed is to be left to itself. */
  readonly left: Promise<undefined>;
  readonly #resolveLeft: (value: undefined) => void;
  #hasLeft = false;
  readonly #options: InterruptionOptions;
  readonly #stop: () => string;
  #firstAt: number | undefined;
  #hasBegun = false;
  #hungUp = false;
  #exitCode: number | undefined;
  #asked: 'not' | 'unconfirmed' | 'stop' = 'not';
  #quiet = false;
  #outputFault: GradwireError | undefined;

  /** @param stop asks for the end of what is followed. @returns what is being done */
  constructor(options: InterruptionOptions, stop: () => string) {
    this.#options = options;
    this.#stop = stop;
    ({ promise: this.left, resolve: this.#resolveLeft } =
      Promise.withResolvers<undefined>());
    process.on('SIGINT', this.#interrupt);
    process.on('SIGTERM', this.#terminate);
    process.on('SIGHUP', this.#hangUp);
    process.stdout.on('error', this.#outputError);
  }

  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  /** Whether the run was asked to stop, and is known to have heard of it. */
  get asked(): 'not' | 'unconfirmed' | 'stop' {
    return this.#asked;
  }

  readonly received = (): void => {
    this.#asked = 'stop';
  };

  /** The run could not be asked to stop: it is left as it is. */
  readonly unstopped = (error: unknown): void => {
    if (this.#hasLeft) return;
    this.#asked = 'unconfirmed';
    if (!this.#quiet) reportError(error);
    this.#leave();
  };

  /** The run does not need this process any more. */
  begun(): void {
    this.#hasBegun = true;
    if (this.#hungUp) this.#leave();
  }

  /** The reason why stdout cannot be written, unless its reader has closed it. */
  get outputFault(): GradwireError | undefined {
    return this.#outputFault;
  }

  /** Nobody reads stdout any more. */
  get quiet(): boolean {
    return this.#quiet;
  }

  close(): void {
    process.off('SIGINT', this.#interrupt);
    process.off('SIGTERM', this.#terminate);
    process.off('SIGHUP', this.#hangUp);
    // Errors of earlier writes that stdout reports from now on go to the program's own listener.
    process.stdout.off('error', this.#outputError);
  }

  readonly #interrupt = (): void => {
    this.#signal(EXIT_INTERRUPTED);
  };

  readonly #terminate = (): void => {
    this.#signal(EXIT_TERMINATED);
  };

  /** The terminal is gone: the run is not, once it has begun. */
  readonly #hangUp = (): void => {
    this.#quiet = true;
    this.#hungUp = true;
    if (this.#hasBegun || this.#options.mode === 'attach') this.#leave();
  };

  readonly #outputError = (error: NodeJS.ErrnoException): void => {
    if (this.#quiet) return;
    if (error.code !== 'EPIPE') this.#outputFault = outputFailed(error);
    this.#quiet = true;
    if (this.#options.mode === 'run') this.#beginStop();
    else this.#leave();
  };

  #leave(): void {
    this.#hasLeft = true;
    this.#resolveLeft(undefined);
  }

  #beginStop(): string {
    this.#asked = 'unconfirmed';
    return this.#stop();
  }

  #signal(code: number): void {
    const now = performance.now();
    if (this.#firstAt === undefined) {
      this.#firstAt = now;
      this.#exitCode = code;
      if (this.#options.mode === 'attach') {
        this.#leave();
        return;
      }
      (this.#options.say ?? sayOnStderr)(this.#beginStop());
    } else if (now - this.#firstAt > SAME_INTERRUPT_MS) this.#leave();
  }
}

function sayOnStderr(text: string): void {
  process.stderr.write(`gradwire: ${text}\n`);
}
