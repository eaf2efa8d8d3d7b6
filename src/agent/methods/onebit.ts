/**
 * 1-bit SGD: the sign of every element, and for each run the mean of its elements ≥ 0 and
 * the mean of those < 0, for which the signs stand. Crude, but what is lost stays in the
 * residual and is sent later. Three passes over runs in the cache; 1/32 of the dense
 * bytes and 8 bytes a run.
 *
 * The paper's two means are those of a column of a weight matrix. It writes a layer as
 * Wᵀ·v + a, so W has a row for each input and a column for each output unit: the weights into
 * that unit. Models here multiply by such matrices from the right, so units are a tensor's
 * last dimension, also of a convolution, and `granularity: column` takes a tensor for a
 * matrix of the rest × that. A vector is one column. A tensor that columns would not make
 * smaller, as of one or two rows, travels dense: QSGD's authors found that such columns cost
 * 1-bit SGD its gain on convolutions. Columns cost two more passes, to order the elements.
 *
 * By default, runs have a fixed length, so the bytes do not depend on the shape.
 *
 * The paper proves no bound. The sign with the mean magnitude ‖p‖₁/n of n elements keeps
 * ‖p − C(p)‖² = (1 − ‖p‖₁²/(n·‖p‖₂²))·‖p‖² ("Error Feedback Fixes SignSGD", Karimireddy et al.,
 * ICML 2019); two means leave no more, since either is nearest to the elements for which it
 * stands. That is a bound of p, not of the gradient, so it is no `errorBound`.
 *
 * The payload is laid out in `sectioned-compressor.ts` and `work/section-layout.ts`.
 *
 * Source: 1-Bit Stochastic Gradient Descent (Seide et al., Interspeech 2014), section 3; its
 * implementation on convolutions: QSGD (Alistarh et al., NeurIPS 2017), section 5.
 */
import { z } from 'zod';
import type { Arena, Region } from '../memory/arena.ts';
import {
  codedCapacity,
  codingOf,
  packedCodeBytes,
  partsOf,
  sectionCapacity,
} from '../work/section-layout.ts';
import type { Section, SignCoding } from '../work/sections.ts';
import type { CompressorContext, MethodDefinition, TensorSlice } from './method.ts';
import { payloadInvalid } from './payload-check.ts';
import { warmUpParameters, withWarmUp } from './warm-up.ts';
import {
  SectionedCompressor,
  sectionsMessage,
  sectionsOf,
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
    .describe('Consecutive elements that share two means'),
  granularity: z
    .enum(['run', 'column'])
    .default('run')
    .describe(
      'Two means for each run of `bucket` elements, or for each column of a weight matrix',
    ),
  minElements,
  ...warmUpParameters,
});
type Parameters = z.infer<typeof parameters>;

export const onebit: MethodDefinition<typeof parameters> = {
  id: 'onebit',
  title: '1-bit SGD',
  summary:
    'The sign of every element, and two means for each run or column; the error stays in a residual.',
  source: '1-bit SGD (Seide et al., Interspeech 2014)',
  suits:
    'Links on which about a thirty-second of the bytes is enough: every element moves in every exchange.',
  label: ({ granularity }) => (granularity === 'run' ? '' : `by ${granularity}`),
  parameters,
  idle: [
    {
      parameter: 'bucket',
      beside: 'granularity',
      when: ({ granularity }) => granularity === 'column',
      instead: 'granularity=run',
    },
  ],
  schedules: [WARM_UP],
  payload: 'quantized',
  reducible: false,
  residual: 'gradient',
  replicas: 'identical',
  messages: (parameters, bucket) => [
    sectionsMessage(
      parameters,
      bucket,
      (n, section) => codedCapacity(n, codingOf(section, signsOf(parameters))),
      columnsOf({ ...bucket, parameters }),
    ),
  ],
  create: (context) =>
    withWarmUp(
      new SectionedCompressor(
        onebit.id,
        context,
        new SignCodec(context),
        columnsOf(context),
      ),
      context,
    ),
};

function signsOf({ bucket }: Pick<Parameters, 'bucket'>): SignCoding {
  return { kind: 'signs', runLength: bucket };
}

/**
 * The tensors as sections; by columns if requested, and dense if their columns would not be
 * smaller than the elements.
 */
function columnsOf({
  parameters,
  tensors,
}: {
  readonly parameters: Parameters;
  readonly tensors: readonly TensorSlice[];
}): readonly Section[] {
  const sections = sectionsOf({ parameters, tensors });
  if (parameters.granularity === 'run') return sections;
  return sections.map((section, at) => {
    const { shape } = tensors[at]!;
    const columns = shape.length < 2 ? 1 : Math.max(1, shape.at(-1)!);
    const coded = { ...section, columns };
    const smaller = sectionCapacity(coded, signsOf(parameters)) < 4 * section.length;
    return section.dense || !smaller ? { ...section, dense: true } : coded;
  });
}

class SignCodec<V> implements SectionCodec {
  readonly coding: SignCoding;
  readonly #arena: Arena;

  constructor({ parameters, residual, work }: CompressorContext<Parameters, V>) {
    if (residual === undefined) throw new Error('internal: onebit without a residual');
    this.coding = signsOf(parameters);
    this.#arena = work.arena;
  }

  measure(data: Region, n: number, columns?: number): MeasuredSection {
    const coding = codingOf({ length: n, columns }, this.coding);
    const { numbers, codes } = partsOf(data, n, coding);
    const missing = packedCodeBytes(n, coding) - codes.bytes;
    if (missing > 0) throw payloadInvalid(onebit.id, `it ends ${missing} bytes early`);
    const bad = this.#arena.f32(numbers).find((mean) => !Number.isFinite(mean));
    if (bad !== undefined) throw payloadInvalid(onebit.id, `a mean is ${bad}`);
    return { kind: 'coded', bytes: data.bytes + missing, numbers, codes, columns };
  }
}
