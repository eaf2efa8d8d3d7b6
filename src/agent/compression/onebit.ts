/**
 * 1-bit SGD: the sign of every element, and for each run the mean of its entries ≥ 0 and
 * the mean of those < 0, for which the signs stand. Crude, but what is lost stays in the
 * residual and is sent later. Three passes over runs in the cache; 1/32 of the dense
 * bytes and 8 bytes a run.
 *
 * The payload is laid out in `sectioned-compressor.ts` and `work/section-layout.ts`.
 *
 * Source: 1-Bit Stochastic Gradient Descent (Seide et al., Interspeech 2014), section 3;
 * a run of elements in the place of a matrix's column.
 */
import { z } from 'zod';
import type { Arena, Region } from '../memory/arena.ts';
import { codedCapacity, packedCodeBytes, partsOf } from '../work/section-layout.ts';
import type { SignCoding } from '../work/sections.ts';
import type { CompressorContext, MethodDefinition } from './method.ts';
import { payloadInvalid } from './payload-check.ts';
import { warmUpParameters, withWarmUp } from './warm-up.ts';
import {
  SectionedCompressor,
  sectionsMessage,
  type MeasuredSection,
  type SectionCodec,
} from './sectioned-compressor.ts';
import { minElements } from './policy/small-tensors.ts';
import { WARM_UP } from './policy/schedule.ts';

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
type Parameters = z.infer<typeof parameters>;

export const onebit: MethodDefinition<typeof parameters> = {
  id: 'onebit',
  title: '1-bit SGD',
  summary: 'The sign of every element, and two means for each run; the rest waits.',
  source: '1-bit SGD (Seide et al., Interspeech 2014)',
  parameters,
  schedules: [WARM_UP],
  payload: 'quantized',
  reducible: false,
  residual: 'gradient',
  replicas: 'identical',
  messages: (parameters, bucket) => [
    sectionsMessage(parameters, bucket, (n) => codedCapacity(n, codingOf(parameters))),
  ],
  create: (context) =>
    withWarmUp(
      new SectionedCompressor(onebit.id, context, new SignCodec(context)),
      context,
    ),
};

function codingOf({ bucket }: Pick<Parameters, 'bucket'>): SignCoding {
  return { kind: 'signs', bucket };
}

class SignCodec<V> implements SectionCodec {
  readonly coding: SignCoding;
  readonly #arena: Arena;

  constructor({ parameters, residual, work }: CompressorContext<Parameters, V>) {
    if (residual === undefined) throw new Error('internal: onebit without a residual');
    this.coding = codingOf(parameters);
    this.#arena = work.arena;
  }

  measure(data: Region, n: number): MeasuredSection {
    const { numbers, codes } = partsOf(data, n, this.coding);
    const missing = packedCodeBytes(n, this.coding) - codes.bytes;
    if (missing > 0) throw payloadInvalid(onebit.id, `it ends ${missing} bytes early`);
    const bad = this.#arena.f32(numbers).find((mean) => !Number.isFinite(mean));
    if (bad !== undefined) throw payloadInvalid(onebit.id, `a mean is ${bad}`);
    return { kind: 'coded', bytes: data.bytes + missing, numbers, codes };
  }
}
