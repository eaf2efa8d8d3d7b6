/**
 * PowerSGD: every matrix M of p = m + ∇ travels as two thin factors. One step of subspace
 * iteration: P = M·Q, averaged over ranks and orthonormalised to P̂; Q = Mᵀ·P̂, averaged
 * to Q̄; the average gradient is P̂·Q̄ᵀ. Both averages are dense reductions of r columns;
 * one-dimensional tensors, and matrices that factors would not make smaller, travel whole
 * with the first. Each rank keeps back M − P̂·Qᵀ, Q its own.
 *
 * The next iteration starts from Q̄ (warm start), with columns scaled to 1, which does not
 * change their span; a column that has become 0 is drawn again from the shared seed. P is a
 * sum rather than an average, since orthonormalising removes any factor. A tensor is a
 * matrix of its first dimension × the rest.
 *
 * Source: PowerSGD (Vogels et al., NeurIPS 2019), algorithms 1 and 2.
 */
import { z } from 'zod';
import type { Region, Vector } from '../memory/arena.ts';
import type { Factors } from '../work/factors.ts';
import { wait, type Steps } from '../work/steps.ts';
import { denseSum } from './expected-messages.ts';
import {
  layOut,
  prepareStart,
  type Factored,
  type LowRankLayout,
} from './low-rank-layout.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type {
  Communicate,
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  KeptState,
  MethodDefinition,
} from './method.ts';
import { orthonormalize } from './orthonormal.ts';
import { requireBytes } from './payload-check.ts';
import { warmUpParameters, withWarmUp } from './warm-up.ts';
import { stateIn } from './saved-state.ts';
import { valuesPayload } from './shared-entries.ts';
import { WARM_UP } from './policy/schedule.ts';

const parameters = z.strictObject({
  rank: z.int().min(1).max(128).default(2).describe('Columns of the factors, r'),
  warmStart: z
    .boolean()
    .default(true)
    .describe('Start from the last factors instead of new random ones'),
  ...warmUpParameters,
});
type Parameters = z.infer<typeof parameters>;

export const powersgd: MethodDefinition<typeof parameters> = {
  id: 'powersgd',
  title: 'PowerSGD',
  summary:
    'Two thin factors of each matrix, r columns each; vectors are sent uncompressed.',
  source: 'PowerSGD (Vogels et al., NeurIPS 2019), algorithms 1 and 2',
  suits:
    'Models of large matrices. Factors are dense and can be summed by any dense collective; small or thin tensors gain little.',
  label: ({ rank }) => `r=${rank}`,
  parameters,
  schedules: [WARM_UP],
  payload: 'dense',
  reducible: true,
  residual: 'gradient',
  agreesOn: 'the sums of all ranks’ first factors, from which each computes the second',
  replicas: 'identical',
  messages: ({ rank }, { tensors }) => {
    const { lefts, rights } = layOut(tensors, rank);
    return rights === 0 ? [denseSum(lefts)] : [denseSum(lefts), denseSum(rights)];
  },
  // Factors have `rank` columns, so the rank must stay.
  stateHolds: (before, after) => before.rank === after.rank,
  create: (context) => withWarmUp(new PowerSgd(context), context),
};

class PowerSgd<V> implements Compressor<V> {
  readonly state: KeptState;
  readonly #context: CompressorContext<Parameters, V>;
  readonly #residual: V;
  readonly #layout: LowRankLayout;
  readonly #factors: Factors<V>;

  constructor(context: CompressorContext<Parameters, V>) {
    const { parameters, residual, tensors, work } = context;
    if (residual === undefined)
      throw new Error('internal: powersgd without a residual');
    this.#context = context;
    this.#residual = residual;
    this.#layout = layOut(tensors, parameters.rank);
    const { lefts, rights, matrices } = this.#layout;
    const widest = Math.max(0, ...matrices.map(({ columns }) => columns));
    this.#factors = work.factors({ lefts, rights, widest });
    this.state = stateIn(powersgd.id, work.arena.f32(this.#factors.rights));
  }

  *exchange(
    gradient: V,
    iteration: number,
    communicate: Communicate,
  ): Steps<ExchangeStatistics> {
    const { work, world } = this.#context;
    const { memory, lefts, rights } = this.#factors;
    yield* this.#project(gradient, iteration);
    const first = yield* wait(
      communicate({ operation: 'reduce', payload: valuesPayload(lefts) }),
    );
    this.#take(first, lefts);
    for (const { at, length } of this.#layout.wholes) {
      work.kernels.scale({ offset: memory.offset + 4 * at, length }, 1 / world);
    }
    yield* this.#factor();
    if (rights.length > 0) {
      const payload = valuesPayload(rights);
      this.#take(yield* wait(communicate({ operation: 'reduce', payload })), rights);
      work.kernels.scale(rights, 1 / world);
    }
    this.#write(gradient);
    return {};
  }

  /** The payload of a single rank: whole tensors and both factors. */
  *encode(gradient: V, iteration: number): Steps<Payload> {
    if (this.#context.world !== 1) {
      throw new Error('internal: powersgd of several ranks takes two rounds');
    }
    yield* this.#project(gradient, iteration);
    yield* this.#factor();
    return valuesPayload(this.#factors.memory);
  }

  decode(combined: Combined, out: V): ExchangeStatistics {
    const { memory, rights } = this.#factors;
    const own = this.#context.work.arena.f32(rights);
    // Another rank's factors pass through the memory of this one's, which are its state.
    const kept = isIn(memory, combined) ? undefined : own.slice();
    this.#take(combined, memory);
    this.#factors.sendLefts();
    this.#write(out);
    if (kept !== undefined) own.set(kept);
    return {};
  }

  parse(data: Region): Payload {
    const { length } = this.#factors.memory;
    requireBytes(powersgd.id, data, 4 * length);
    return { kind: 'dense', length, data };
  }

  /** Computes p and P = M·Q of its matrices; whole tensors and P go to the arena. */
  *#project(gradient: V, iteration: number): Steps<void> {
    const { work } = this.#context;
    const factors = this.#factors;
    const residual = this.#residual;
    work.add(residual, gradient);
    for (const { start, length, at } of this.#layout.wholes) {
      const tensor = work.slice(residual, start, length);
      factors.copyFrom(tensor, at);
      work.clear(tensor);
    }
    const rights = work.arena.f32(factors.rights);
    prepareStart(rights, this.#layout, { ...this.#context, iteration });
    factors.sendRights();
    for (const matrix of this.#layout.matrices) {
      factors.timesFactor(this.#matrix(residual, matrix), matrix);
    }
    yield* wait(factors.fetchLefts());
  }

  /**
   * Computes P̂ and Q = Mᵀ·P̂; the part of M that these do not capture stays in the
   * residual.
   */
  *#factor(): Steps<void> {
    const { arena } = this.#context.work;
    const factors = this.#factors;
    const lefts = arena.f32(factors.lefts);
    for (const { left, rank, rows } of this.#layout.matrices) {
      orthonormalize(lefts.subarray(left, left + rank * rows), rows);
    }
    factors.sendLefts();
    for (const matrix of this.#layout.matrices) {
      const kept = this.#matrix(this.#residual, matrix);
      factors.transposedTimesFactor(kept, matrix);
      factors.addProduct(kept, matrix, -1);
    }
    yield* wait(factors.fetchRights());
  }

  /** Writes the average; its right factors are only in the arena. */
  #write(out: V): void {
    const { work } = this.#context;
    this.#factors.sendRights();
    for (const { start, length, at } of this.#layout.wholes) {
      this.#factors.copyTo(work.slice(out, start, length), at);
    }
    for (const matrix of this.#layout.matrices) {
      const target = this.#matrix(out, matrix);
      work.clear(target);
      this.#factors.addProduct(target, matrix, 1);
    }
  }

  /** Stores sums over ranks where the terms were. */
  #take(combined: Combined, into: Vector): void {
    if (combined.form !== 'dense') {
      throw new Error(`internal: factors cannot be ${combined.form}`);
    }
    if (isIn(into, combined)) return;
    const { offset } = combined.data;
    this.#context.work.kernels.copy(into, { offset, length: into.length });
  }

  #matrix(vector: V, { start, rows, columns }: Factored): V {
    return this.#context.work.slice(vector, start, rows * columns);
  }
}

/** Whether the sums already are where the terms were. */
const isIn = ({ offset }: Vector, combined: Combined): boolean =>
  combined.form === 'dense' && combined.data.offset === offset;
