/** `optimizer` in a spec: the optimiser and its learning rate. */
import { z } from 'zod';
import type { Exclusion, Need } from '../checks/spec-key.ts';
import { besideProgram } from './program-spec.ts';

const positive = z.number().positive();

type Clipping = Pick<z.infer<typeof optimizerSchema>, 'clipAt' | 'clipNorm'>;

/** The largest norm of the averaged gradient; undefined: it is not limited. */
export const averageLimit = ({
  clipAt,
  clipNorm,
}: Partial<Clipping>): number | undefined => (clipAt === 'rank' ? undefined : clipNorm);

/** The largest norm of a rank's own gradient; undefined: it is not limited. */
export const rankLimit = ({
  clipAt,
  clipNorm,
}: Partial<Clipping>): number | undefined => (clipAt === 'rank' ? clipNorm : undefined);

/** A setting that exchanges a part of the gradient early, where a full one corrects all of it. */
const correctedWhole = (key: string): Exclusion => ({
  key,
  code: 'PARALLELISM_MISFIT',
  place: key,
  because:
    'optimizer.fullGradientEvery corrects each gradient as a whole, so none of it can be exchanged earlier',
  next: `Remove ${key} or fullGradientEvery.`,
});

/** The need of a key that one schedule has. */
const ofSchedule = (option: string, is: string): readonly Need[] => [
  {
    key: 'optimizer.schedule',
    is,
    code: 'OPTIMIZER_OPTION_IDLE',
    because: `${option} belongs to the schedule "${is}", not to "{found}"`,
    next: 'Remove it.',
  },
];

export const optimizerSchema = z.strictObject({
  kind: z.string().default('sgd').meta({ title: 'Kind' }),
  lr: positive.default(0.05).describe('Learning rate').meta({ title: 'Learning rate' }),
  momentum: z
    .number()
    .min(0)
    .lt(1)
    .default(0.9)
    .describe('Momentum, for sgd and lars; the others have none')
    .meta({ title: 'Momentum' }),
  nesterov: z
    .boolean()
    .optional()
    .describe('Use Nesterov momentum, for sgd')
    .meta({
      title: 'Nesterov',
      folded: true,
      needs: [
        {
          value: true,
          key: 'optimizer.momentum',
          code: 'OPTIMIZER_OPTION_IDLE',
          because: 'nesterov has no effect without momentum',
          next: 'Remove it.',
        },
      ],
    }),
  weightDecay: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('Weight decay; default: 0.01 for adamw, else 0')
    .meta({ title: 'Weight decay', folded: true }),
  beta1: z
    .number()
    .min(0)
    .lt(1)
    .optional()
    .describe('Decay of the first moment, for adam and adamw; default: 0.9')
    .meta({ title: 'Beta 1', folded: true }),
  beta2: z
    .number()
    .min(0)
    .lt(1)
    .optional()
    .describe('Decay of the second moment, for adam and adamw; default: 0.999')
    .meta({ title: 'Beta 2', folded: true }),
  epsilon: positive
    .optional()
    .describe(
      'Term added to the denominator; default: 1e-8 for adam and adamw, 1e-10 for adagrad',
    )
    .meta({ title: 'Epsilon', folded: true }),
  trust: positive
    .optional()
    .describe('Trust coefficient of lars; default: 0.001')
    .meta({ title: 'Trust', folded: true }),
  clipNorm: positive
    .optional()
    .describe('Largest norm of the averaged gradient; larger gradients are scaled down')
    .meta({ title: 'Clip at norm', folded: true }),
  clipAt: z
    .enum(['average', 'rank'])
    .optional()
    .describe(
      'Gradient that clipNorm limits: the average, or each rank’s own before its residual is added; default: average',
    )
    .meta({
      title: 'Clip',
      folded: true,
      needs: [
        {
          key: 'optimizer.clipNorm',
          code: 'OPTIMIZER_OPTION_IDLE',
          because: 'clipAt says what clipNorm limits, and there is no clipNorm',
          next: 'Set clipNorm, or remove clipAt.',
        },
      ],
      excludes: [
        {
          value: 'rank',
          key: 'overlap',
          code: 'PARALLELISM_MISFIT',
          because:
            'a gradient whose exchange begins before all of it is computed has no norm to clip by yet',
          next: 'Remove overlap, or use clipAt: average.',
        },
        {
          value: 'rank',
          key: 'compareEvery',
          code: 'PARALLELISM_MISFIT',
          because: 'a comparison takes gradients as they are before they are clipped',
          next: 'Remove compareEvery, or use clipAt: average.',
        },
        {
          value: 'rank',
          key: 'optimizer.fullGradientEvery',
          code: 'PARALLELISM_MISFIT',
          because:
            'optimizer.fullGradientEvery corrects gradients by others of the same samples, which clipping would change',
          next: 'Remove one of them, or use clipAt: average.',
        },
      ],
    }),
  fullGradientEvery: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .describe(
      'SVRG: iterations between gradients of all samples, which reduce the noise of batch gradients; default: never',
    )
    .meta({
      excludes: [
        correctedWhole('overlap'),
        correctedWhole('doubleBuffer'),
        besideProgram({
          place: 'optimizer',
          because: 'a program has its own optimiser',
        }),
      ],
    }),
  schedule: z
    .enum(['constant', 'cosine', 'linear', 'polynomial', 'step'])
    .default('constant')
    .meta({
      title: 'Schedule',
      needs: [
        {
          value: 'step',
          key: 'optimizer.decayAt',
          code: 'SCHEDULE_INCOMPLETE',
          place: 'optimizer.decayAt',
          because: 'the schedule "step" needs decayAt',
          next: 'List the iterations at which the rate falls, such as decayAt: [1000, 2000].',
        },
      ],
    }),
  warmupIterations: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .optional()
    .describe(
      'Warm-up: iterations over which the rate rises to its full value; default: 0',
    )
    .meta({ title: 'Warm-up', folded: true }),
  scaleWithRanks: z
    .boolean()
    .optional()
    .describe('Multiply the rate by the number of ranks, or of pipelines')
    .meta({ title: 'Scale with ranks', folded: true }),
  decayAt: z
    .array(z.int().min(1))
    .max(100)
    .optional()
    .describe(
      'Iterations at which the step schedule lowers the rate, such as [1000, 2000]',
    )
    .meta({ title: 'Decay at', folded: true, needs: ofSchedule('decayAt', 'step') }),
  decayFactor: positive
    .lt(1)
    .optional()
    .describe('Factor by which each step multiplies the rate; default: 0.1')
    .meta({
      title: 'Decay factor',
      folded: true,
      needs: ofSchedule('decayFactor', 'step'),
    }),
  power: positive
    .max(10)
    .optional()
    .describe('Exponent of the polynomial schedule; default: 2')
    .meta({ title: 'Power', folded: true, needs: ofSchedule('power', 'polynomial') }),
});
