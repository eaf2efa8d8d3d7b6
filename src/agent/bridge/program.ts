/** A rank's program, from its start to its end, as the rank's training loop sees it. */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { awaitedElsewhere } from '../../shared/async/awaited-elsewhere.ts';
import { GradwireError, type ErrorData } from '../../shared/errors/errors.ts';
import type { Attach, FromProgram, Observed, Stepped } from './messages.ts';
import { requireTurns, requireTurn } from './program-turns.ts';
import {
  endedEarly,
  goneOutside,
  lostLink,
  noWorkdir,
  notStarted,
  requireMode,
  unexpected,
  type Circumstances,
} from './program-errors.ts';
import { PrivateSocket } from './private-socket.ts';
import { listenToProgram, type ProgramLink } from './program-link.ts';
import { OutsideProgram } from './outside-program.ts';
import { ProgramProcess, type ProgramCommand } from './program-process.ts';
import {
  crashOf,
  endWithin,
  EXIT_MS,
  LAUNCHER_EXIT_MS,
  type ProgramRun,
} from './program-run.ts';
import type { StateKeeper } from './state-keeper.ts';
import { shareMemory, type Place, type SharedMemory } from './shared-memory.ts';

export interface ProgramOptions extends Omit<ProgramCommand, 'bridge' | 'command'> {
  readonly run: string;
  readonly rank: number;
  /** The program and its arguments; absent if something else starts it. */
  readonly command?: readonly string[] | undefined;
  /** The path of the rank's socket, where the program looks for it; else one of its own. */
  readonly bridge?: string | undefined;
  /** Whether it is only observed. */
  readonly observes: boolean;
  /** Time for it to end once it is asked to, ms. */
  readonly patienceMs: number;
  /** Takes the error when the program is lost; called at most once. */
  readonly failed: (error: unknown) => void;
}

export class Program {
  readonly #options: ProgramOptions;
  #link: ProgramLink | undefined;
  readonly #process: ProgramRun;
  /** Messages that nobody has asked for yet. */
  readonly #inbox: FromProgram[] = [];
  #waiting: PromiseWithResolvers<FromProgram> | undefined;
  #memory: SharedMemory | undefined;
  #lost: Error | undefined;
  /** Ends the wait for a program that has closed its socket. */
  readonly #closing = new AbortController();
  /** Whether it waits for `go`. */
  #held = false;
  #isAttached = false;
  /** The number of models that step in turns; 0: all are of each step. */
  #turns = 0;
  /** Whether it ends by itself. */
  #ends = false;
  /** Whether nothing but the end of its interpreter is to follow. */
  #isLast = false;
  #crash: string | undefined;
  /** Whether it was told to end by a signal. */
  #isStopped = false;
  /** Whether a step of an observed program has been seen. */
  #hasStepped = false;
  /** Resolves when its socket is closed, and all that it sent has come. */
  readonly #unlinkedNow = Promise.withResolvers<undefined>();
  /** Whether it may end: it was told to go on after its end, or to stop. */
  #mayEnd = false;

  private constructor(options: ProgramOptions, child: ProgramRun) {
    this.#options = options;
    this.#process = child;
    child.exit.then(
      (exit) => {
        if (this.#isStopped) this.#receive({ type: 'end' });
        if (this.#isStopped || (this.#mayEnd && exit.code === 0)) return;
        if (this.#hasStepped && exit.code === 0) {
          // It has ended without its interpreter's end, as by os._exit(), and was only watched.
          void this.#unlinkedNow.promise.then(() => {
            this.#receive({ type: 'end', last: true });
          });
          return;
        }
        const { launches = false } = options;
        if (this.#mayEnd && this.#isLast && !launches) this.#crash = crashOf(exit);
        if (this.#crash === undefined)
          this.#lose(endedEarly(exit, this.#circumstances));
      },
      (error: unknown) => {
        this.#lose(notStarted(error, options.rank));
      },
    );
  }

  static async start(options: ProgramOptions): Promise<Program> {
    const { command, workdir } = options;
    if (workdir !== undefined && !existsSync(workdir)) throw noWorkdir(workdir);
    const socket = options.bridge ?? PrivateSocket.newPath();
    // Its guard comes before the socket, and so removes that whatever happens to this process.
    const child =
      command === undefined
        ? new OutsideProgram(socket)
        : new ProgramProcess({ ...options, command, bridge: socket });
    const program = new Program(options, child);
    program.#link = await listenToProgram(socket, options.rank, {
      received: (message) => {
        program.#receive(message);
      },
      lost: (error) => {
        void program.#unlinked(error);
      },
    });
    child.begin();
    return program;
  }

  /** The shared vector; all of it is the program's, except between `gradient` and `average`. */
  get values(): Float32Array {
    if (this.#memory === undefined) throw new Error('internal: no memory is shared');
    return this.#memory.values;
  }

  /** Resolves when the program has built its model. */
  async attached(): Promise<Attach> {
    for (;;) {
      const message = await this.#next();
      if (message.type === 'attach') {
        this.#isAttached = true;
        this.#turns = requireTurns(message, this.#options.rank);
        return message;
      }
      if (message.type === 'end') throw this.#withoutStep();
      if (message.type !== 'hello') throw this.#unexpected(message);
      requireMode(message.mode, this.#options);
    }
  }

  /**
   * @param length elements of the gradient; 0 if the program is only observed
   * @param place where the engine has it, so that nothing is copied in between
   */
  async begin(length: number, place?: Place): Promise<void> {
    if (length > 0) {
      const memory = await shareMemory(length, place);
      this.#memory = memory;
      this.#link?.send({ type: 'memory', path: memory.path, bytes: 4 * length });
      await this.#expect('mapped');
      memory.closePath();
    }
    this.#link?.send({ type: 'attached' });
  }

  /**
   * Waits for the next gradient.
   * @param ready called as it grows: all elements from this one on are in `values`, or those of the
   * models that step
   * @param keeper serves what the program asks before
   * @returns false if the program ends instead
   */
  async gradient(
    ready: (from: number, models: readonly number[]) => void,
    keeper: StateKeeper,
  ): Promise<boolean> {
    this.release();
    let isBefore = true;
    for (;;) {
      const message = await this.#next();
      if (message.type === 'end' && isBefore) {
        this.#end(message);
        return false;
      }
      if (message.type === 'save' && isBefore) {
        this.#link?.send(await keeper.save());
        continue;
      }
      if (message.type === 'restore' && isBefore) {
        keeper.restore(message);
        continue;
      }
      if (message.type !== 'ready') throw this.#unexpected(message);
      isBefore = false;
      ready(message.from, requireTurn(message, this.#turns, this.#options.rank));
      if (message.from === 0) return true;
    }
  }

  /** Waits for the next step of an observed program; undefined if it ends instead. */
  async observed(): Promise<Observed | undefined> {
    const message = await this.#next();
    if (message.type === 'stepped' || message.type === 'unseen') return message;
    if (message.type !== 'end') throw this.#unexpected(message);
    this.#end(message);
    return undefined;
  }

  #end({ last = false }: Extract<FromProgram, { type: 'end' }>): void {
    this.#ends = true;
    this.#held = true;
    this.#isLast = last;
  }

  /**
   * Gives the average, which is in `values`, and waits for the end of the step.
   * @param hold whether the program is to wait then, so that its weights can be read
   * @param finite whether there is an average
   * @param trace whether the step is to be told with its moments
   */
  async average({
    trace,
    ...answer
  }: {
    finite: boolean;
    hold: boolean;
    trace: boolean;
  }): Promise<Stepped> {
    this.#link?.send({ type: 'averaged', ...answer, ...(trace ? { trace } : {}) });
    const stepped = await this.#expect('stepped');
    this.#held = answer.hold;
    return stepped;
  }

  /**
   * Copies a vector of a held program to `values`.
   * @param vector 0 for the weights, then those of the optimisers' state
   * @returns the number of vectors of state
   */
  async read(vector: number): Promise<number> {
    this.#requireHeld();
    this.#link?.send({ type: 'read', vector });
    return (await this.#expect('written')).states;
  }

  /** Copies `values` to a vector of a held program, as `read` counts them. */
  async write(vector: number): Promise<void> {
    this.#requireHeld();
    this.#link?.send({ type: 'write', vector });
    await this.#expect('loaded');
  }

  /** Lets a held program go on. */
  release(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#link?.send({ type: 'go', stop: false });
  }

  /** Has steps of a program that is only observed told with their moments, counted from 0. */
  trace(first: number, steps: number): void {
    this.#link?.send({ type: 'trace', first, steps });
  }

  /** Ends a program that is only observed, which takes no orders: its exit code says nothing then. */
  stop(): void {
    this.#mayEnd = true;
    this.#isStopped = true;
    this.#process.signal('SIGTERM');
  }

  /**
   * Lets it end, and asks it to if it does not by itself. Resolves when it is gone.
   * @returns the signal by which its interpreter has ended after all of the program had
   * @throws GradwireError `PROGRAM_FAILED` if it fails at its end
   */
  async finish(): Promise<string | undefined> {
    this.#mayEnd = true;
    this.#link?.send({ type: 'go', stop: !this.#ends });
    // One that ends by itself may save and evaluate for as long as it likes.
    await endWithin(this.#process, this.#ends ? undefined : this.#options.patienceMs);
    if (this.#lost !== undefined) throw this.#lost;
    this.#close();
    return this.#crash;
  }

  /** Lets one that ends by itself go on, and returns how it failed, if it does so soon. */
  async failureAtEnd(): Promise<Error | undefined> {
    this.#mayEnd = true;
    this.release();
    const waited = new AbortController();
    const late = sleep(EXIT_MS, undefined, { signal: waited.signal });
    await Promise.race([this.#process.exit, late.catch(awaitedElsewhere)]).catch(
      awaitedElsewhere,
    );
    waited.abort();
    return this.#lost;
  }

  /** Ends it because the run has failed. */
  abort(error: ErrorData): void {
    this.#mayEnd = true;
    this.#lost ??= new GradwireError(error);
    this.#link?.send({ type: 'failed', error });
    this.#process.signal('SIGTERM');
    this.#close();
  }

  #close(): void {
    this.#closing.abort();
    this.#link?.close();
    this.#memory?.close();
    this.#memory = undefined;
  }

  #receive(message: FromProgram): void {
    if (this.#options.observes) {
      this.#hasStepped ||= message.type === 'stepped';
      // It does not wait for leave to end: its socket closes while a prediction is still made.
      this.#mayEnd ||= message.type === 'end';
    }
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#inbox.push(message);
    else waiting.resolve(message);
  }

  #next(): Promise<FromProgram> {
    const known = this.#inbox.shift();
    if (known !== undefined) return Promise.resolve(known);
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    this.#waiting = Promise.withResolvers();
    return this.#waiting.promise;
  }

  async #expect<T extends FromProgram['type']>(
    type: T,
  ): Promise<Extract<FromProgram, { type: T }>> {
    const message = await this.#next();
    if (message.type === type) return message as Extract<FromProgram, { type: T }>;
    throw this.#unexpected(message);
  }

  /** A program whose socket has closed is about to end, and its end says more. */
  async #unlinked(error: unknown): Promise<void> {
    this.#unlinkedNow.resolve(undefined);
    if (error !== undefined) {
      this.#lose(error);
      return;
    }
    const { command, launches = false, rank } = this.#options;
    if (!this.#mayEnd) {
      const { signal } = this.#closing;
      const exitMs = launches ? LAUNCHER_EXIT_MS : EXIT_MS;
      await sleep(exitMs, undefined, { signal }).catch(awaitedElsewhere);
    }
    if (!this.#mayEnd) {
      this.#lose(command === undefined ? goneOutside(rank) : lostLink(rank));
    }
    this.#process.unlinked();
  }

  #lose(error: unknown): void {
    if (this.#lost !== undefined) return;
    this.#lost = error instanceof Error ? error : new Error(String(error));
    if (this.#mayEnd) return;
    this.#waiting?.promise.catch(awaitedElsewhere);
    this.#waiting?.reject(this.#lost);
    this.#options.failed(this.#lost);
  }

  #requireHeld(): void {
    if (!this.#held) throw new Error('internal: the program is not held');
  }

  #withoutStep(): GradwireError {
    const exit = { code: 0, signal: null, stderr: '' };
    return endedEarly(exit, {
      ...this.#circumstances,
      isLauncher: false,
      isConnected: true,
    });
  }

  get #circumstances(): Circumstances {
    const { command, launches = false, observes, rank, run } = this.#options;
    return {
      run,
      rank,
      observes,
      isLauncher: launches && command !== undefined,
      isConnected: this.#link?.isConnected === true,
      isAttached: this.#isAttached,
    };
  }

  #unexpected({ type }: FromProgram): GradwireError {
    return unexpected(type, this.#options.rank);
  }
}
