/**
 * Works through the queue of a sweep: launches its runs, `atOnce` at a time, and waits for their
 * ends. A run that fails does not end the sweep; several that do not even begin stop it. What it
 * does is in the store before it is done, so another process can go on where this one ended.
 */
import { setTimeout as pause } from 'node:timers/promises';
import {
  failure,
  formatError,
  GradwireError,
  toErrorData,
  type ErrorData,
} from '../../shared/errors/errors.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import { parseExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { runName } from '../../shared/sweep/sweep-names.ts';
import { ownName } from '../home/process-name.ts';
import type { RunCoordinator } from '../runs/coordinator.ts';
import type { RunStore } from '../store/run-store.ts';
import type { QueuedRun } from '../store/sweep-table.ts';

/** Interval of looks whether the sweep was stopped or changed, and of signs of life. */
const LOOK_MS = 500;
const BEAT_MS = 10_000;
/** Interval of looks at the clock whether a sign of life is due. */
const BEAT_LOOK_MS = 1000;
/** Runs in a row that do not begin before the sweep stops. */
const MOST_UNBEGUN = 3;

interface RunnerEvents {
  /** A run was launched, or taken over from a process that has ended. */
  begun(run: string): void;
  /** A run has ended, or could not be launched. */
  ended(): void;
}

type RunnerCoordinator = Pick<RunCoordinator, 'following' | 'launches'>;

export interface SweepRunnerOptions {
  readonly store: Pick<RunStore, 'summary' | 'sweeps'>;
  readonly coordinator: RunnerCoordinator;
  readonly sweep: string;
  readonly events: RunnerEvents;
}

/**
 * - `finished`: nothing is left to do.
 * - `stopped`: the sweep was stopped, and its runs have ended.
 * - `left`: this process does not go on with it, or another one has taken it over.
 */
export type SweepEnd = 'finished' | 'stopped' | 'left';

export class SweepRunner {
  readonly #options: SweepRunnerOptions;
  /** Runs that have not ended, with what resolves when they have. */
  readonly #live = new Map<string, Promise<void>>();
  readonly #leaving = new AbortController();
  #unbegun = 0;
  /** Whether it drives the sweep, as far as it knows. */
  #isDriving = false;
  #beatAt = 0;

  constructor(options: SweepRunnerOptions) {
    this.#options = options;
  }

  /** Ids of the runs in progress that are followed here. */
  get live(): readonly string[] {
    return [...this.#live.keys()];
  }

  /** Whether it was told to leave, so it drives no more. */
  get isLeaving(): boolean {
    return this.#leaving.signal.aborted;
  }

  /** Ends the work; runs in progress go on. */
  leave(): void {
    this.#leaving.abort();
  }

  /**
   * @returns why it ended; `left` at once if another process drives the sweep
   * @throws GradwireError what the store cannot do
   */
  async drive(): Promise<SweepEnd> {
    const { store, sweep } = this.#options;
    if (!store.sweeps.claim(sweep, ownName())) return 'left';
    this.#isDriving = true;
    this.#beatAt = Date.now();
    // Not between two steps of the work: one of them may take long.
    const beats = setInterval(() => {
      this.#beat();
    }, BEAT_LOOK_MS);
    try {
      return await this.#work();
    } finally {
      clearInterval(beats);
      this.#isDriving = false;
      store.sweeps.release(sweep, ownName());
    }
  }

  /** Says in time that it goes on, by the clock: timers stand still while a computer sleeps. */
  #beat(): void {
    // A clock that was set back counts as well.
    if (Math.abs(Date.now() - this.#beatAt) < BEAT_MS) return;
    try {
      this.#goesOn();
    } catch (error) {
      // It is tried again, and the work meets what lasts.
      if (!(error instanceof GradwireError)) throw error;
    }
  }

  /** Says that it goes on. @returns whether it still drives the sweep */
  #goesOn(): boolean {
    const { store, sweep } = this.#options;
    this.#isDriving &&= store.sweeps.drives(sweep, ownName());
    this.#beatAt = Date.now();
    return this.#isDriving;
  }

  async #work(): Promise<SweepEnd> {
    const { store, sweep } = this.#options;
    await this.#takeOver();
    for (;;) {
      if (this.isLeaving || !this.#isDriving) return 'left';
      const { atOnce, state } = store.sweeps.summary(sweep);
      const next = this.#live.size < atOnce ? store.sweeps.next(sweep) : undefined;
      if (next !== undefined) {
        await this.#launch(next);
        continue;
      }
      if (this.#live.size === 0) {
        if (state === 'finished' || state === 'stopped') return state;
      }
      await this.#wait();
    }
  }

  /** Follows what another process had begun. */
  async #takeOver(): Promise<void> {
    const { coordinator, store, sweep } = this.#options;
    for (const run of store.sweeps.live(sweep)) {
      try {
        await coordinator.following.follow(run);
      } catch (error) {
        // A machine that is out of reach is tried again by the coordinator; the store tells the end.
        if (!(error instanceof GradwireError)) throw error;
      }
      if (this.isLeaving) return;
      // It may follow some since it drove the sweep before.
      if (!this.#live.has(run) && !hasEnded(store.summary(run).state))
        this.#follow(run);
    }
    store.sweeps.requeueUnbegun(sweep);
  }

  async #launch(queued: QueuedRun): Promise<void> {
    const { coordinator, events, store, sweep } = this.#options;
    const { name } = store.sweeps.summary(sweep);
    let run: RunSummary;
    try {
      const spec = parseExperimentSpec({
        ...(queued.spec as object),
        name: runName(name, queued.label, queued.seed),
        seed: queued.seed,
      });
      const { number } = queued;
      const place = { sweep, number, driver: ownName() };
      run = await coordinator.launches.create(spec, [], place);
    } catch (thrown) {
      // It failed because this process is about to end: whoever drives next launches it.
      if (this.isLeaving) return;
      const error = toErrorData(thrown);
      // It was dropped, or the sweep stopped or taken over, while its spec was checked.
      if (error.code === 'SWEEP_CHANGED') {
        this.#goesOn();
        return;
      }
      // What is wrong with its spec is its own; anything else would be the next one's, too.
      if (error.kind === 'input') {
        store.sweeps.fail(sweep, queued.number, error);
        this.#count(error);
        events.ended();
      } else this.#halt(error);
      return;
    }
    // A created run that does not begin is queued again (`requeueUnbegun`).
    if (this.isLeaving) return;
    events.begun(run.id);
    this.#follow(
      run.id,
      coordinator.launches.begin(run.id).catch((thrown: unknown) => {
        // Its row says how it failed.
        if (!(thrown instanceof GradwireError)) throw thrown;
      }),
    );
  }

  /** Waits for the end of a run. */
  #follow(run: string, begun: Promise<unknown> = Promise.resolve()): void {
    const { coordinator, events, store } = this.#options;
    const over = (async (): Promise<void> => {
      await begun;
      const { error, iterations, state } = await coordinator.following.ended(run);
      if (state === 'failed' && iterations === 0 && error !== undefined)
        this.#count(error);
      else this.#unbegun = 0;
    })()
      .catch((error: unknown) => {
        // It cannot be followed any longer. It is left where it is.
        if (!(error instanceof GradwireError)) throw error;
        this.#halt(error.toData());
      })
      .finally(() => {
        this.#live.delete(run);
        if (this.isLeaving) return;
        if (hasEnded(store.summary(run).state)) events.ended();
      });
    // Whoever has left does not wait for it.
    over.catch(() => undefined);
    this.#live.set(run, over);
  }

  #count(error: ErrorData): void {
    this.#unbegun++;
    if (this.#unbegun >= MOST_UNBEGUN) this.#halt(error);
  }

  /** Stops the sweep for a reason that the next runs would meet as well. */
  #halt(error: ErrorData): void {
    const { store, sweep } = this.#options;
    // What fails now fails by the end of this process; another process's sweep is its own to stop.
    if (this.isLeaving || !this.#goesOn()) return;
    this.#unbegun = 0;
    const halted = failure(
      'SWEEP_HALTED',
      `the sweep stopped by itself: ${formatError(error)}`,
      {
        next: `Then go on: gradwire sweeps resume ${sweep} --retry.`,
      },
    );
    store.sweeps.stop(sweep, { error: halted.toData(), isInterrupted: false });
  }

  async #wait(): Promise<void> {
    const looked = new AbortController();
    const signal = AbortSignal.any([looked.signal, this.#leaving.signal]);
    const look = pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
    await Promise.race([look, ...this.#live.values()]);
    looked.abort();
  }
}
