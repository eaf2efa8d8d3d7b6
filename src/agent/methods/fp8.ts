/**
 * Floats of 8 bits in blocks of 32 with a shared power of two: MXFP8, the format of the OCP
 * Microscaling specification. A quarter of the bytes, for elements whose magnitudes differ by
 * up to 2¹⁷ (E4M3) or 2³¹ (E5M2) within a block. A residual is optional.
 *
 * A section of n elements, in a payload as of `sectioned-compressor.ts`, is
 *
 *     scales   ⌈n/32⌉ × u8, at most 246 (E4M3) or 239 (E5M2): 2^(scale − 127)
 *     codes    n × u8: sign, exponent, fraction; neither infinite nor NaN
 *
 * each padded with 0 to whole words of 4 bytes. Ranks have scales of their own, so payloads are
 * gathered, not summed. Rounding and scales: `kernels/microscaling.ts`.
 *
 * Sources: OCP Microscaling Formats (MX) Specification, version 1.0 (2023); Micikevicius et al.,
 * "FP8 Formats for Deep Learning" (2022), arXiv:2209.05433.
 */
import { z } from 'zod';
import type { Kernels } from '../kernels/kernels.ts';
import {
  fillLastWord,
  microscaledBytes,
  microscaledParts,
} from '../kernels/microscaled-layout.ts';
import { largestScale, type Float8Type } from '../kernels/microscaling.ts';
import type { RandomStream } from '../kernels/random.ts';
import type { Arena, Region, Vector } from '../memory/arena.ts';
import { longestCoded, type HostCoding } from '../work/sections.ts';
import type { CompressorContext, MethodDefinition } from './method.ts';
import { payloadInvalid } from './payload-check.ts';
import { roundingParameter } from './policy/rounding.ts';
import { WARM_UP } from './policy/schedule.ts';
import { minElements } from './policy/small-tensors.ts';
import { errorFeedback, ERROR_FEEDBACK } from './policy/error-feedback.ts';
import {
  SectionedCompressor,
  sectionsMessage,
  sectionsOf,
  type MeasuredSection,
  type SectionCodec,
} from './sectioned-compressor.ts';
import { warmUpParameters, withWarmUp } from './warm-up.ts';

const parameters = z.strictObject({
  format: z
    .enum(['e4m3', 'e5m2'])
    .default('e4m3')
    .describe(
      'Bits of exponent and fraction: e4m3 is more precise, e5m2 has the greater range',
    ),
  rounding: roundingParameter,
  errorFeedback,
  minElements,
  ...warmUpParameters,
});
type Parameters = z.infer<typeof parameters>;

export const fp8: MethodDefinition<typeof parameters> = {
  id: 'fp8',
  title: 'Block-scaled FP8',
  summary: 'Every element in 8 bits, as a float with a scale for each 32 elements.',
  source: 'OCP Microscaling Formats (MX) Specification, version 1.0 (2023)',
  suits:
    'Links on which a quarter of the bytes is enough, few ranks, and gradients whose magnitudes differ widely.',
  label: ({ format, rounding }) =>
    rounding === 'nearest' ? format : `${format} ${rounding}`,
  parameters,
  schedules: [WARM_UP],
  payload: 'quantized',
  reducible: false,
  residual: 'gradient',
  residualIf: ERROR_FEEDBACK,
  replicas: 'identical',
  messages: (given, bucket) => [sectionsMessage(given, bucket, microscaledBytes)],
  create: (context) =>
    withWarmUp(
      new SectionedCompressor(fp8.id, context, new BlockCodec(context)),
      context,
    ),
};

class BlockCodec<V> implements SectionCodec {
  readonly coding: HostCoding;
  readonly #arena: Arena;
  readonly #kernels: Kernels;
  readonly #type: Float8Type;
  /** Values of a received section. */
  readonly #values: Region;

  constructor(context: CompressorContext<Parameters, V>) {
    const { arena, kernels } = context.work;
    const { format, rounding } = context.parameters;
    this.#arena = arena;
    this.#kernels = kernels;
    this.#type = format;
    this.#values = context.work.region(4 * longestCoded(sectionsOf(context)));
    this.coding = {
      kind: 'host',
      gives: 'values',
      capacity: microscaledBytes,
      encode: (x, out, noise) =>
        this.#encode(x, out, rounding === 'stochastic' ? noise : undefined),
    };
  }

  measure(data: Region, n: number): MeasuredSection {
    const bytes = microscaledBytes(n);
    if (data.bytes < bytes) {
      throw payloadInvalid(fp8.id, `it ends ${bytes - data.bytes} bytes early`);
    }
    const { scales, codes } = microscaledParts(data.offset, n);
    const most = largestScale(this.#type);
    const scale = this.#arena.u8(scales.offset, scales.bytes).find((one) => one > most);
    if (scale !== undefined) {
      throw payloadInvalid(fp8.id, `a scale is ${scale}; at most ${most} is possible`);
    }
    const { microscaling } = this.#kernels;
    const index = microscaling.firstNonFinite(this.#type, codes);
    if (index >= 0) throw payloadInvalid(fp8.id, `value ${index} is not finite`);
    const values = { offset: this.#values.offset, length: n };
    microscaling.decode(this.#type, scales, codes, values);
    return { kind: 'dense', bytes, values };
  }

  #encode({ offset, length }: Vector, out: Region, noise?: RandomStream): number {
    const { scales, codes } = microscaledParts(out.offset, length);
    const bytes = microscaledBytes(length);
    for (const part of [scales, codes]) fillLastWord(this.#arena, part);
    const { microscaling } = this.#kernels;
    microscaling.encode(this.#type, { offset, length }, scales, codes, noise);
    return bytes;
  }
}
