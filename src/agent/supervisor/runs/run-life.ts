/**
 * The life of a run on this node, as one table: its states, and what may happen in each. What
 * the table does not have cannot happen, and says so as an error of ours.
 * Upholds invariant I11 (docs/architecture.md).
 */
import type { RunPhase } from '../../../shared/protocol/supervisor.ts';
import type { RunOptions } from './run-options.ts';

/**
 * - `queued`: it waits for the nodes that Slurm allocates, and has never had ranks.
 * - `preparing`: its ranks start and listen.
 * - `running`: they were asked to connect to each other, or are connected.
 * - `closing`: all its processes are gone, and the reason is sought.
 * - `interrupted`: it has no ranks, and may resume from a checkpoint.
 * - `resuming`: new ranks start from a checkpoint.
 * - `ended`: its last record is written.
 */
export type RunState =
  'queued' | 'preparing' | 'running' | 'closing' | 'interrupted' | 'resuming' | 'ended';

/**
 * - `start`: processes of its ranks are started.
 * - `begin`: they are told each other's addresses.
 * - `connected`: all ranks are ready for their first iteration.
 * - `gone`: the last of its processes has ended.
 * - `interrupt`: it may go on later.
 * - `end`: it may not.
 */
export type RunEvent = 'start' | 'begin' | 'connected' | 'gone' | 'interrupt' | 'end';

export const RUN_TRANSITIONS: {
  readonly [S in RunState]: { readonly [E in RunEvent]?: RunState };
} = {
  queued: { start: 'preparing', end: 'ended' },
  preparing: { begin: 'running', gone: 'closing' },
  running: { connected: 'running', gone: 'closing' },
  closing: { interrupt: 'interrupted', end: 'ended' },
  // Nodes that were allocated for it may be lost before its ranks start.
  interrupted: { start: 'resuming', end: 'ended' },
  resuming: { begin: 'resuming', connected: 'running', gone: 'closing' },
  ended: {},
};

/** Phases as callers see them; `closing` looks like the state before it. */
const PHASES: { readonly [S in Exclude<RunState, 'closing'>]: RunPhase } = {
  queued: 'preparing',
  preparing: 'preparing',
  running: 'running',
  interrupted: 'interrupted',
  resuming: 'interrupted',
  ended: 'ended',
};

type FirstState = 'queued' | 'preparing' | 'closing' | 'interrupted';

/** `closing` for a run whose supervisor died while it ran. */
export function firstState({
  restored,
  slurm,
}: Pick<RunOptions, 'restored' | 'slurm'>): FirstState {
  if (restored !== undefined) return restored.interrupted ? 'interrupted' : 'closing';
  return slurm === undefined ? 'preparing' : 'queued';
}

export class RunLife {
  #state: RunState;
  #phase: RunPhase;
  #hasRun: boolean;

  constructor(state: FirstState) {
    this.#state = state;
    const isNew = state === 'queued' || state === 'preparing';
    this.#phase = isNew ? 'preparing' : 'interrupted';
    this.#hasRun = !isNew;
  }

  get state(): RunState {
    return this.#state;
  }

  get phase(): RunPhase {
    return this.#phase;
  }

  /** Whether its ranks have begun, now or before: only then can it resume. */
  get hasRun(): boolean {
    return this.#hasRun;
  }

  is(...states: readonly RunState[]): boolean {
    return states.includes(this.#state);
  }

  can(event: RunEvent): boolean {
    return RUN_TRANSITIONS[this.#state][event] !== undefined;
  }

  /** @throws Error if the table does not have it: a fault of ours */
  happens(event: RunEvent): void {
    const next = RUN_TRANSITIONS[this.#state][event];
    if (next === undefined) {
      throw new Error(`a run that is ${this.#state} cannot have "${event}"`);
    }
    this.#state = next;
    if (next !== 'closing') this.#phase = PHASES[next];
    this.#hasRun ||= next === 'running';
  }
}
