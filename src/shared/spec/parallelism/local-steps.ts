/**
 * Local steps: each rank takes `every` steps of its own, then all exchange how far they have moved
 * (docs/decisions/048-local-steps.md).
 */
import { z } from 'zod';
import '../../checks/spec-key.ts';
import { beside, drawn, type Misfit, type ParallelismKind } from './kind.ts';

const keys = {
  every: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe('Local steps between exchanges; default: 16')
    .meta({ title: 'Exchange every' }),
  outer: z
    .strictObject({
      lr: z
        .number()
        .positive()
        .max(100)
        .optional()
        .describe(
          'Learning rate of the outer step, which all ranks take together; default: 0.7',
        )
        .meta({ title: 'Outer learning rate' }),
      momentum: z
        .number()
        .min(0)
        .lt(1)
        .optional()
        .describe('Momentum of the outer step; default: 0.9')
        .meta({ title: 'Outer momentum' }),
      nesterov: z.boolean().optional().describe('Use Nesterov momentum; default: true'),
    })
    .optional()
    .describe('Optimiser applied to the average change of the local steps'),
};

type LocalStepsKeys = { readonly kind: string } & z.infer<z.ZodObject<typeof keys>>;

/** The part of a spec that says how ranks share the work. */
interface Shared {
  readonly parallelism?: LocalStepsKeys | undefined;
}

export interface OuterSettings {
  readonly lr: number;
  readonly momentum: number;
  readonly nesterov: boolean;
}

export interface LocalStepsSettings {
  /** Steps of a rank from one exchange to the next. */
  readonly every: number;
  readonly outer: OuterSettings;
}

const EVERY = 16;
/** The outer optimizer's defaults, as DiLoCo has them (Douillard et al., 2023). */
const OUTER: OuterSettings = { lr: 0.7, momentum: 0.9, nesterov: true };

/** Settings of local steps; undefined if ranks exchange in every iteration. */
export function localStepsOf({ parallelism }: Shared): LocalStepsSettings | undefined {
  if (parallelism?.kind !== 'local-steps') return undefined;
  const { every = EVERY, outer = {} } = parallelism;
  const { lr = OUTER.lr, momentum = OUTER.momentum, nesterov = OUTER.nesterov } = outer;
  return { every, outer: { lr, momentum, nesterov } };
}

/**
 * The number of the first exchange at or after the start of an iteration, counted from 0: what
 * the engine and the methods call an iteration is an exchange.
 */
export const exchangeFrom = (iteration: number, spec: Shared): number =>
  Math.ceil(iteration / (localStepsOf(spec)?.every ?? 1));

function misfits(spec: Parameters<ParallelismKind['misfits']>[0]): readonly Misfit[] {
  const { momentum, nesterov } = (spec as Shared).parallelism?.outer ?? {};
  const isIdle = momentum === 0 && nesterov !== undefined;
  return [
    ...(isIdle
      ? [
          {
            place: 'parallelism.outer.nesterov',
            message: 'there is no outer momentum, so nesterov has no effect',
            next: 'Remove it, or set outer.momentum above 0.',
          },
        ]
      : []),
    ...(spec.optimizer.clipAt === 'rank'
      ? [
          {
            place: 'optimizer.clipAt',
            message: 'local steps clip each rank’s own gradient in any case',
            next: 'Remove it.',
          },
        ]
      : []),
    ...beside(
      spec,
      'local steps exchange how far the weights moved, which is known only after the last ' +
        'step, so no exchange can run during them',
    ),
    ...drawn(
      spec,
      'local steps exchange how far the weights moved, but a synthetic gradient moves none',
    ),
  ];
}

export const localSteps = {
  id: 'local-steps',
  brief: 'exchange every few iterations',
  hint: 'Ranks take local steps and exchange how far their weights moved, as in DiLoCo',
  instead: 'local steps end in an exchange of all ranks, without servers',
  keys,
  misfits,
  uncorrected: 'local steps exchange no gradients that could be corrected',
  withoutUpdates: {
    message:
      'local steps exchange how far the weights have moved: their residual keeps updates anyway',
    next: 'Remove residualUnits.',
  },
} as const satisfies ParallelismKind;
