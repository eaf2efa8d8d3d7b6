/**
 * Ranks of asynchronous training over real sockets, each of which a test drives by itself.
 * Weights begin as 0, gradients are small integers and η is a power of two: for two and four
 * ranks all sums are exact, in whatever order they are made.
 */
import type { Fence, PushResult } from '../../../src/agent/exchange/exchange-engine.ts';
import { connectRanks, element, N, type Rank } from './engine-ranks.ts';
import type { PlanSwitch } from '../../../src/shared/exchange-plan.ts';

export const LR = 0.5;

export interface Serving {
  readonly world: number;
  readonly staleness: number;
  readonly servers?: number;
  readonly momentum?: number;
  readonly switches?: readonly PlanSwitch[];
  /** All meet before this iteration. */
  readonly end: number;
}

export interface Pushed {
  readonly iteration: number;
  readonly result: PushResult;
  /** As they were pulled behind it. */
  readonly weights: Float32Array;
  /** Of the weights that its gradient was computed with. */
  readonly staleness: number;
  readonly fences: readonly Fence[];
}

export class ServingRank {
  readonly rank: Rank;
  readonly pushed: Pushed[] = [];
  readonly #index: number;
  readonly #serving: Serving;
  readonly #weights: { readonly offset: number; readonly length: number };
  readonly #watchers: { readonly count: number; readonly tell: () => void }[] = [];
  #next = 0;
  #met = true;
  #staleness = 0;

  constructor(rank: Rank, index: number, serving: Serving) {
    this.rank = rank;
    this.#index = index;
    this.#serving = serving;
    const { offset } = rank.arena.allocateVector(N);
    this.#weights = { offset, length: N };
    rank.arena.f32(this.#weights).fill(0);
  }

  /** Begins an iteration where all begin it: the servers on this rank serve from then on. */
  async open(): Promise<void> {
    const { momentum = 0, servers = 1, staleness } = this.#serving;
    if (!this.#met) return;
    if (this.#next === 0) await this.rank.engine.fence(0);
    this.#met = false;
    const settings = { servers, staleness, momentum, nesterov: false, weightDecay: 0 };
    const opened = { iteration: this.#next, settings, weights: this.#weights };
    this.rank.engine.serve(opened);
  }

  /** One iteration. */
  async step(): Promise<Pushed> {
    const { arena, engine, gradient } = this.rank;
    await this.open();
    const iteration = this.#next++;
    const values = arena.f32(gradient);
    for (let i = 0; i < N; i++) values[i] = element(this.#index, iteration, i);
    const meets = this.#next === this.#serving.end;
    const result = await engine.push(iteration, { lr: LR, meets });
    this.#met = result.met;
    const fences = result.met ? await engine.fence(this.#next) : [];
    const weights = arena.f32(this.#weights).slice();
    const step = { iteration, result, weights, staleness: this.#staleness, fences };
    this.#staleness = result.staleness;
    this.pushed.push(step);
    for (const { count, tell } of this.#watchers) {
      if (this.pushed.length >= count) tell();
    }
    return step;
  }

  /** Resolves when it has pushed this often. */
  reached(count: number): Promise<void> {
    if (this.pushed.length >= count) return Promise.resolve();
    return new Promise((tell) => this.#watchers.push({ count, tell }));
  }

  /** Iterations up to the end, or to a stop. */
  async run(pause: (iteration: number) => Promise<unknown>): Promise<void> {
    while (this.#next < this.#serving.end) {
      await pause(this.#next);
      const { result } = await this.step();
      if (result.stop) return;
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
