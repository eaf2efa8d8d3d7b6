/**
 * How ranks share the work of training: `parallelism` in a spec. `synchronous`: all ranks
 * exchange in every iteration. `local-steps`: each takes `every` steps of its own, then they
 * exchange how far they have moved (docs/decisions/048-local-steps.md).
 */
import { z } from 'zod';

export const PARALLELISM_KINDS = ['synchronous', 'local-steps'] as const;

export const parallelismSchema = z.strictObject({
  kind: z
    .enum(PARALLELISM_KINDS)
    .default('synchronous')
    .describe(
      'synchronous: an exchange in every iteration; local-steps: one in every few',
    ),
  every: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe('Local steps from one exchange to the next; default: 16'),
  outer: z
    .strictObject({
      lr: z
        .number()
        .positive()
        .max(100)
        .optional()
        .describe('Rate of the steps that all ranks take together; default: 0.7'),
      momentum: z.number().min(0).lt(1).optional().describe('Of those; default: 0.9'),
      nesterov: z
        .boolean()
        .optional()
        .describe('Whether it is Nesterov’s momentum; default: true'),
    })
    .optional()
    .describe('The optimizer of what local steps moved, averaged over ranks'),
});
export type ParallelismSpec = z.infer<typeof parallelismSchema>;

/** A spec, in as far as it says how ranks share the work. */
interface Shared {
  readonly parallelism?: ParallelismSpec | undefined;
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
/** As DiLoCo has it (Douillard et al., 2023). */
const OUTER: OuterSettings = { lr: 0.7, momentum: 0.9, nesterov: true };

/** Undefined where ranks exchange in every iteration. */
export function localStepsOf({ parallelism }: Shared): LocalStepsSettings | undefined {
  if (parallelism?.kind !== 'local-steps') return undefined;
  const { every = EVERY, outer = {} } = parallelism;
  const { lr = OUTER.lr, momentum = OUTER.momentum, nesterov = OUTER.nesterov } = outer;
  return { every, outer: { lr, momentum, nesterov } };
}

/**
 * Which exchange it is that comes first at or after an iteration begins, counted from 0:
 * what the engine and the methods call an iteration is an exchange.
 */
export const exchangeFrom = (iteration: number, spec: Shared): number =>
  Math.ceil(iteration / (localStepsOf(spec)?.every ?? 1));
