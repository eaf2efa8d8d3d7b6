/**
 * Warm-up: the first iterations of a run, or of a switch that gives it, travel uncompressed, as gradients change fastest
 * then and a compressor with error feedback would apply most of them late. What a
 * residual holds (after a switch of methods in the warm-up) goes out with the first
 * of them, so that nothing is lost.
 *
 * Source: ScaleCom (Chen et al., NeurIPS 2020), section 4: one to five epochs.
 */
import { z } from 'zod';
import type { Region, Vector } from '../memory/arena.ts';
import { writeAverage } from './average.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type {
  Communicate,
  Compressor,
  CompressorContext,
  ExchangeStatistics,
} from './method.ts';
import { requireBytes } from './payload-check.ts';
import { epochsParameter } from './policy/epochs.ts';
import { startParameter } from './policy/starts.ts';

export const warmUpParameters = {
  warmupIterations: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .default(0)
    .describe('Iterations without compression before the method starts'),
  warmupEpochs: epochsParameter('warmupIterations'),
  warmupStart: startParameter('warm-up'),
};

export interface WarmUp {
  readonly warmupIterations: number;
  /** The iteration at which it begins; 0 by default. */
  readonly warmupStart?: number | undefined;
}

export function isWarming(
  { warmupIterations, warmupStart = 0 }: WarmUp,
  iteration: number,
): boolean {
  return warmupIterations > 0 && iteration < warmupStart + warmupIterations;
}

/** `compressor`, from the iteration on at which the warm-up has ended. */
export function withWarmUp(
  compressor: Compressor,
  context: CompressorContext<WarmUp>,
): Compressor {
  if (context.parameters.warmupIterations === 0) return compressor;
  return compressor.exchange === undefined
    ? new WarmUpCompressor(compressor, context)
    : new WarmUpExchange(compressor, context);
}

class WarmUpCompressor implements Compressor {
  protected readonly after: Compressor;
  readonly #context: CompressorContext<WarmUp>;

  constructor(after: Compressor, context: CompressorContext<WarmUp>) {
    this.after = after;
    this.#context = context;
  }

  encode(gradient: Vector, iteration: number): Payload | Promise<Payload> {
    return this.warming(iteration)
      ? this.encodeDense(gradient)
      : this.after.encode(gradient, iteration);
  }

  decode(
    combined: Combined,
    out: Vector,
    iteration: number,
  ): ExchangeStatistics | Promise<ExchangeStatistics> {
    return this.warming(iteration)
      ? this.decodeDense(combined, out)
      : this.after.decode(combined, out, iteration);
  }

  /** Dense in the warm-up, whatever the method's payloads are later. */
  parse(data: Region, iteration: number): Payload {
    if (!this.warming(iteration)) return this.after.parse(data, iteration);
    const { length } = this.#context;
    requireBytes('the warm-up', data, 4 * length);
    return { kind: 'dense', length, data };
  }

  save(): Uint8Array {
    return this.after.save();
  }

  restore(state: Uint8Array): void {
    this.after.restore(state);
  }

  [Symbol.dispose](): void {
    this.after[Symbol.dispose]();
  }

  protected warming(iteration: number): boolean {
    return isWarming(this.#context.parameters, iteration);
  }

  protected encodeDense(gradient: Vector): Payload {
    const { kernels, residual } = this.#context;
    if (residual !== undefined) {
      kernels.add(gradient, residual);
      kernels.fill(residual, 0);
    }
    const { offset, length } = gradient;
    return { kind: 'dense', length, data: { offset, bytes: 4 * length } };
  }

  protected decodeDense(combined: Combined, out: Vector): ExchangeStatistics {
    const { kernels, world } = this.#context;
    return writeAverage(kernels, combined, out, world);
  }
}

/** The same for a method that talks more than once in an exchange. */
class WarmUpExchange extends WarmUpCompressor {
  async exchange(
    gradient: Vector,
    iteration: number,
    communicate: Communicate,
  ): Promise<ExchangeStatistics> {
    if (!this.warming(iteration)) {
      return await this.after.exchange!(gradient, iteration, communicate);
    }
    const payload = this.encodeDense(gradient);
    return this.decodeDense(
      await communicate({ operation: 'reduce', payload }),
      gradient,
    );
  }
}
