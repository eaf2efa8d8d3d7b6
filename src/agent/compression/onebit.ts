/**
 * 1-bit SGD: the sign of every element, and for each run the mean of its entries ≥ 0 and
 * the mean of those < 0, for which the signs stand. Crude, but what is lost stays in the
 * residual and is sent later. Three passes over runs in the cache; 1/32 of the dense
 * bytes and 8 bytes a run.
 *
 * A section of n elements in runs of d, in a payload as of `sectioned-compressor.ts`, is
 *
 *     means   ⌈n/d⌉ × (f32 mean of the entries ≥ 0, f32 mean of those < 0), finite
 *     signs   n bits, bit i mod 8 (0: the lowest) of byte ⌊i/8⌋, 1 where the element is
 *             < 0; padded to whole words of 4 bytes
 *
 * Source: 1-Bit Stochastic Gradient Descent (Seide et al., Interspeech 2014), section 3;
 * a run of elements in the place of a matrix's column.
 */
import { z } from 'zod';
import type { Arena, Region, Vector } from '../memory/arena.ts';
import { packedBytes, runsOf } from '../kernels/quantization.ts';
import type { CompressorContext, MethodDefinition } from './method.ts';
import { payloadInvalid } from './payload-check.ts';
import { warmUpParameters, withWarmUp } from './warm-up.ts';
import {
  SectionedCompressor,
  sectionsMessage,
  type SectionCodec,
} from './sectioned-compressor.ts';
import { minElements } from './policy/small-tensors.ts';

const parameters = z.strictObject({
  bucket: z
    .int()
    .min(1)
    .max(2 ** 30)
    .default(512)
    .describe('Consecutive elements that share their two means'),
  minElements,
  ...warmUpParameters,
});

export const onebit: MethodDefinition<typeof parameters> = {
  id: 'onebit',
  title: '1-bit SGD',
  summary: 'The sign of every element, and two means for each run; the rest waits.',
  source: '1-bit SGD (Seide et al., Interspeech 2014)',
  parameters,
  payload: 'quantized',
  reducible: false,
  residual: 'gradient',
  replicas: 'identical',
  messages: (parameters, bucket) => [
    sectionsMessage(parameters, bucket, (n) => signBytes(n, parameters.bucket)),
  ],
  create: (context) =>
    withWarmUp(
      new SectionedCompressor(onebit.id, context, new SignCodec(context)),
      context,
    ),
};

/** Bytes of a section of n elements. */
const signBytes = (n: number, bucket: number): number =>
  8 * runsOf(n, bucket) + packedBytes(n, 1);

/**
 * The bytes of the section of n elements that begins where `data` does, checked.
 * @throws GradwireError `PAYLOAD_INVALID`
 */
export function measureSigns(
  arena: Arena,
  data: Region,
  n: number,
  bucket: number,
): number {
  const means = 2 * runsOf(n, bucket);
  const bytes = 4 * means + packedBytes(n, 1);
  if (data.bytes < bytes) {
    throw payloadInvalid(onebit.id, `it ends ${bytes - data.bytes} bytes early`);
  }
  const values = arena.f32({ offset: data.offset, length: means });
  const bad = values.find((mean) => !Number.isFinite(mean));
  if (bad !== undefined) throw payloadInvalid(onebit.id, `a mean is ${bad}`);
  return bytes;
}

class SignCodec implements SectionCodec {
  readonly #context: CompressorContext<z.infer<typeof parameters>>;

  constructor(context: CompressorContext<z.infer<typeof parameters>>) {
    if (context.residual === undefined) {
      throw new Error('internal: onebit without a residual');
    }
    this.#context = context;
  }

  capacity(n: number): number {
    return signBytes(n, this.#context.parameters.bucket);
  }

  encode(x: Vector, _section: number, _iteration: number, out: Region): number {
    const { kernels, parameters } = this.#context;
    const [means, signs] = this.#split(out, x.length);
    kernels.quantization.quantizeSigns(x, parameters.bucket, means, signs);
    return this.capacity(x.length);
  }

  measure(data: Region, n: number): number {
    return measureSigns(this.#context.arena, data, n, this.#context.parameters.bucket);
  }

  decode(data: Region, out: Vector, add: boolean): void {
    const { kernels, parameters } = this.#context;
    const [means, signs] = this.#split(data, out.length);
    kernels.quantization.dequantizeSigns(out, parameters.bucket, means, signs, add);
  }

  #meanBytes(n: number): number {
    return 8 * runsOf(n, this.#context.parameters.bucket);
  }

  #split({ offset, bytes }: Region, n: number): [Vector, Region] {
    const meanBytes = this.#meanBytes(n);
    return [
      { offset, length: meanBytes / 4 },
      { offset: offset + meanBytes, bytes: bytes - meanBytes },
    ];
  }
}
