/**
 * Ranks of asynchronous training over real sockets, whose gradients come when a test lets them.
 * Weights begin as 0, gradients are small integers and η is a power of two: for two and four
 * ranks all sums are exact, in whatever order they are made.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Fence, PushResult } from '../../../src/agent/exchange/exchange-calls.ts';
import type { Vector } from '../../../src/agent/memory/arena.ts';
import type { EngineClient } from '../../../src/agent/worker/engine/engine-client.ts';
import type { EngineCalls } from '../../../src/agent/worker/engine/engine-protocol.ts';
import { AsynchronousRound } from '../../../src/agent/worker/steps/asynchronous-round.ts';
import type { TrainerThread } from '../../../src/agent/worker/trainers/trainer-thread.ts';
import { connectRanks, element, N, type Rank } from './engine-ranks.ts';
import type { PlanSwitch } from '../../../src/shared/plan/exchange-plan.ts';

export const LR = 0.5;

export interface Serving {
  readonly world: number;
  readonly staleness: number;
  readonly servers?: number;
  readonly momentum?: number;
  readonly weightDecay?: number;
  /** Of all weights; default: 0. */
  readonly initial?: number;
  readonly trainerThreads?: number;
  readonly drainEvery?: number;
  readonly switches?: readonly PlanSwitch[];
  /** All meet before this iteration. */
  readonly end: number;
  /** Default: `element`. */
  readonly gradient?: (rank: number, iteration: number, i: number) => number;
}

export interface Pushed {
  readonly iteration: number;
  readonly result: PushResult;
  readonly thread: number;
  /** Of the weights that its gradient was computed with. */
  readonly staleness: number;
  /** Whether all met behind it. */
  readonly met: boolean;
  readonly stop: boolean;
  readonly fences: readonly Fence[];
}

/** Called as a gradient is computed, which takes as long as this. */
export type Pause = (iteration: number, thread: number) => Promise<unknown>;

export class ServingRank {
  readonly rank: Rank;
  readonly pushed: Pushed[] = [];
  /** The weights that each iteration was computed with; behind the last, those of all. */
  readonly begun = new Map<number, Float32Array>();
  readonly #index: number;
  readonly #serving: Serving;
  readonly #watchers: { readonly count: number; readonly tell: () => void }[] = [];

  constructor(rank: Rank, index: number, serving: Serving) {
    this.rank = rank;
    this.#index = index;
    this.#serving = serving;
  }

  /** What all have met with, at last. */
  get last(): Float32Array {
    return this.begun.get(this.pushed.length)!;
  }

  /** Resolves when it has pushed this often. */
  reached(count: number): Promise<void> {
    if (this.pushed.length >= count) return Promise.resolve();
    return new Promise((tell) => this.#watchers.push({ count, tell }));
  }

  /** Iterations up to the end, or to a stop. */
  async run(pause: Pause): Promise<void> {
    const { drainEvery, end, momentum = 0, servers = 1, staleness } = this.#serving;
    const { initial = 0, trainerThreads = 1, weightDecay = 0 } = this.#serving;
    const { arena, engine } = this.rank;
    const threads = Array.from({ length: trainerThreads }, (_, thread) =>
      this.#thread(thread, pause),
    );
    const [{ weights }] = threads as [TrainerThread];
    arena.f32(weights).fill(initial);
    const settings = { servers, staleness, momentum, nesterov: false, weightDecay };
    const served = { ...settings, trainerThreads, drainEvery };
    await engine.fence(0);
    let iteration = 0;
    for (let stop = false; iteration < end && !stop;) {
      const all = arena.f32(weights);
      for (const other of threads.slice(1)) arena.f32(other.weights).set(all);
      const opened = { iteration, settings: served, weights };
      const until = engine.asynchronous.serve(opened);
      const round = new AsynchronousRound({
        engine: this.#calls,
        threads,
        staleness,
        first: iteration,
        requireFinite: () => undefined,
        learningRate: () => LR,
        inspects: () => false,
        meetsBefore: (next) => next === end || next === until,
      });
      for (let meets = false; !meets; iteration++) {
        const { met, pushed } = await round.finished(iteration);
        meets = met !== undefined;
        stop = met?.result.stop === true;
        if (meets) this.begun.set(iteration + 1, arena.f32(weights).slice());
        this.#keep({
          iteration,
          thread: pushed.thread,
          staleness: pushed.staleness,
          result: pushed.push,
          met: meets,
          stop,
          fences: met?.fences ?? [],
        });
      }
    }
  }

  #thread(thread: number, pause: Pause): TrainerThread {
    const { arena } = this.rank;
    const vector = (): Vector => ({
      offset: arena.allocateVector(N).offset,
      length: N,
    });
    const weights = vector();
    const own = this.#serving.trainerThreads === undefined ? undefined : vector();
    return {
      weights,
      gradient: own,
      compute: async (iteration) => {
        this.begun.set(iteration, arena.f32(weights).slice());
        await pause(iteration, thread);
        const values = arena.f32(own ?? this.rank.gradient);
        const { gradient = element } = this.#serving;
        for (let i = 0; i < N; i++) values[i] = gradient(this.#index, iteration, i);
        const step = { loss: undefined, metric: undefined };
        return { ...{ at: 0, step, data: 0, compute: 0, apply: 0 } };
      },
    };
  }

  /** As an engine thread answers them. */
  get #calls(): Pick<EngineClient, 'call'> {
    const { engine } = this.rank;
    const { asynchronous } = engine;
    const handlers = {
      push: async ({ iteration, ...request }: EngineCalls['push']['request']) => ({
        result: await asynchronous.push(iteration, request),
      }),
      ask: (request: EngineCalls['ask']['request']) => asynchronous.ask(request),
      meet: async ({ iteration }: EngineCalls['meet']['request']) => {
        const result = await asynchronous.meet();
        return { result, fences: await engine.fence(iteration), notices: [] };
      },
    };
    return {
      call: ((call: keyof typeof handlers, request: never) =>
        handlers[call](request)) as EngineClient['call'],
    };
  }

  #keep(pushed: Pushed): void {
    this.pushed.push(pushed);
    for (const { count, tell } of this.#watchers) {
      if (this.pushed.length >= count) tell();
    }
  }
}

export async function servingRanks(
  exchange: Record<string, unknown>,
  serving: Serving,
): Promise<readonly ServingRank[]> {
  const { switches = [], world } = serving;
  const ranks = await connectRanks(exchange, switches, world);
  return ranks.map((rank, index) => new ServingRank(rank, index, serving));
}

export const atOnce = (): Promise<void> => Promise.resolve();

/** Lets the others go on: turns of the event loop, in place of time. */
export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}

/** The vector that all ranks share once they have met. */
export function shared(ranks: readonly ServingRank[]): Float32Array {
  const [first, ...others] = ranks;
  for (const { last, pushed } of ranks) {
    expect(pushed.at(-1)!.met).toBe(true);
    expect(pushed.at(-1)!.iteration).toBe(first!.pushed.at(-1)!.iteration);
    expect(last).toEqual(first!.last);
  }
  expect(others).toHaveLength(ranks.length - 1);
  return first!.last;
}

export function expectBalanced(ranks: readonly ServingRank[]): void {
  for (const { pushed, rank } of ranks) {
    expect(rank.engine.ledgerImbalance()).toEqual({ sent: 0, received: 0 });
    for (const { result } of pushed) expect(result.bytes.imbalance).toBe(0);
  }
}
