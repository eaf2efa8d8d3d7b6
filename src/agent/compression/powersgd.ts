/**
 * PowerSGD: every matrix M of p = m + ∇ travels as two thin factors. One step of subspace
 * iteration: P = M·Q, averaged over ranks and orthonormalised to P̂; Q = Mᵀ·P̂, averaged
 * to Q̄; the average gradient is P̂·Q̄ᵀ. Both averages are dense reductions of r columns;
 * tensors of one dimension, and matrices that factors would not make smaller, travel whole
 * with the first. Each rank keeps back M − P̂·Qᵀ, Q its own.
 *
 * Q̄ is where the next iteration starts (warm start), its columns scaled to 1, which
 * changes no span; a column that has become 0 is drawn anew, from the seed all ranks share.
 * P is a sum rather than an average, as orthonormalising takes any factor out. A tensor is
 * a matrix of its first dimension × the rest.
 *
 * Source: PowerSGD (Vogels et al., NeurIPS 2019), algorithms 1 and 2.
 */
import { z } from 'zod';
import type { Region, Vector } from '../memory/arena.ts';
import type { Matrix } from '../kernels/low-rank.ts';
import { denseSum } from './expected-messages.ts';
import {
  layOut,
  prepareStart,
  type Factored,
  type LowRankLayout,
} from './low-rank-layout.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import {
  unmeasured,
  type Communicate,
  type Compressor,
  type CompressorContext,
  type ExchangeStatistics,
  type MethodDefinition,
} from './method.ts';
import { orthonormalize } from './orthonormal.ts';
import { requireBytes } from './payload-check.ts';
import { warmUpParameters, withWarmUp } from './warm-up.ts';
import { packState, unpackState } from './saved-state.ts';

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
  summary: 'Two thin factors of each matrix, r columns each; vectors travel whole.',
  source: 'PowerSGD (Vogels et al., NeurIPS 2019), algorithms 1 and 2',
  parameters,
  payload: 'dense',
  reducible: true,
  residual: 'gradient',
  agreesOn: 'factors that are summed over ranks before the second is computed',
  replicas: 'identical',
  messages: ({ rank }, { tensors }) => {
    const { first, length } = layOut(tensors, rank);
    return length === first
      ? [denseSum(first)]
      : [denseSum(first), denseSum(length - first)];
  },
  // Factors have as many columns as the rank says.
  stateHolds: (before, after) => before.rank === after.rank,
  create: (context) => withWarmUp(new PowerSgd(context), context),
};

class PowerSgd implements Compressor {
  readonly #context: CompressorContext<Parameters>;
  readonly #residual: Vector;
  readonly #layout: LowRankLayout;
  /** Whole tensors, then all left factors; then, from `#first` on, all right factors. */
  readonly #memory: Vector & Region;

  constructor(context: CompressorContext<Parameters>) {
    const { arena, kernels, parameters, residual, tensors } = context;
    if (residual === undefined)
      throw new Error('internal: powersgd without a residual');
    this.#context = context;
    this.#residual = residual;
    this.#layout = layOut(tensors, parameters.rank);
    const { length } = this.#layout;
    this.#memory = { ...arena.allocateVector(length), length };
    kernels.fill(this.#memory, 0);
  }

  async exchange(
    gradient: Vector,
    iteration: number,
    communicate: Communicate,
  ): Promise<ExchangeStatistics> {
    const { kernels, measure = unmeasured, world } = this.#context;
    this.#project(gradient, iteration);
    const left = this.#part(0, this.#layout.first);
    const sums = await communicate({ operation: 'reduce', payload: dense(left) });
    measure('compress', () => {
      this.#take(sums, left);
      for (const { at, length } of this.#layout.wholes) {
        kernels.scale(this.#part(at, length), 1 / world);
      }
      this.#factor();
    });
    const right = this.#part(
      this.#layout.first,
      this.#memory.length - this.#layout.first,
    );
    if (right.length > 0) {
      const combined = await communicate({
        operation: 'reduce',
        payload: dense(right),
      });
      measure('decompress', () => {
        this.#take(combined, right);
        kernels.scale(right, 1 / world);
      });
    }
    measure('decompress', () => {
      this.#write(gradient);
    });
    return {};
  }

  /** What a rank alone would send: whole tensors and both factors. */
  encode(gradient: Vector, iteration: number): Payload {
    if (this.#context.world !== 1) {
      throw new Error('internal: powersgd of several ranks takes two rounds');
    }
    this.#project(gradient, iteration);
    this.#factor();
    return dense(this.#memory);
  }

  decode(combined: Combined, out: Vector): ExchangeStatistics {
    this.#take(combined, this.#memory);
    this.#write(out);
    return {};
  }

  parse(data: Region): Payload {
    requireBytes(powersgd.id, data, 4 * this.#memory.length);
    return { kind: 'dense', length: this.#memory.length, data };
  }

  save(): Uint8Array {
    return packState(powersgd.id, this.#rightFactors());
  }

  restore(state: Uint8Array): void {
    unpackState(powersgd.id, state, this.#rightFactors());
  }

  [Symbol.dispose](): void {
    this.#context.arena.release(this.#memory);
  }

  /** p, its whole tensors, and P = M·Q of its matrices. */
  #project(gradient: Vector, iteration: number): void {
    const { kernels } = this.#context;
    const residual = this.#residual;
    kernels.add(residual, gradient);
    for (const { start, length, at } of this.#layout.wholes) {
      const tensor = slice(residual, start, length);
      kernels.copy(this.#part(at, length), tensor);
      kernels.fill(tensor, 0);
    }
    prepareStart(this.#rightFactors(), this.#layout, { ...this.#context, iteration });
    for (const matrix of this.#layout.matrices) {
      const [left, right] = this.#factors(matrix);
      kernels.lowRank.timesFactor(matrixIn(residual, matrix), right, left);
    }
  }

  /** P̂, Q = Mᵀ·P̂, and what these do not tell of M stays in the residual. */
  #factor(): void {
    const { arena, kernels } = this.#context;
    for (const matrix of this.#layout.matrices) {
      const [left, right] = this.#factors(matrix);
      const kept = matrixIn(this.#residual, matrix);
      orthonormalize(arena.f32(left), matrix.rows);
      kernels.lowRank.transposedTimesFactor(kept, left, right);
      kernels.lowRank.addProduct(kept, left, right, -1);
    }
  }

  #write(out: Vector): void {
    const { kernels } = this.#context;
    for (const { start, length, at } of this.#layout.wholes) {
      kernels.copy(slice(out, start, length), this.#part(at, length));
    }
    for (const matrix of this.#layout.matrices) {
      const [left, right] = this.#factors(matrix);
      kernels.fill(slice(out, matrix.start, matrix.rows * matrix.columns), 0);
      kernels.lowRank.addProduct(matrixIn(out, matrix), left, right, 1);
    }
  }

  /** Sums over ranks, to where the terms were. */
  #take(combined: Combined, into: Vector): void {
    if (combined.form !== 'dense') {
      throw new Error(`internal: factors cannot be ${combined.form}`);
    }
    const { offset } = combined.data;
    if (offset === into.offset) return;
    this.#context.kernels.copy(into, { offset, length: into.length });
  }

  #factors({ left, right, rows, columns, rank }: Factored): [Vector, Vector] {
    return [this.#part(left, rank * rows), this.#part(right, rank * columns)];
  }

  #rightFactors(): Float32Array {
    const length = this.#memory.length - this.#layout.first;
    return this.#context.arena.f32(this.#part(this.#layout.first, length));
  }

  #part(start: number, length: number): Vector {
    return slice(this.#memory, start, length);
  }
}

function slice(vector: Vector, start: number, length: number): Vector {
  return { offset: vector.offset + 4 * start, length };
}

function matrixIn(vector: Vector, { start, rows, columns }: Factored): Matrix {
  return { offset: vector.offset + 4 * start, rows, columns };
}

function dense({ offset, length }: Vector): Payload {
  return { kind: 'dense', length, data: { offset, bytes: 4 * length } };
}
