/** Requests of a page or a command for a prediction: a spec, and the worlds to predict it in. */
import { z } from 'zod';
import { MOST_ELEMENTS } from './forecast-question.ts';

/** Costs of rings are sums over all ranks: more would take minutes. */
export const MOST_PLANNED_RANKS = 1_000_000;

/** Axes of a curve of step times. */
export const CURVE_AXES = ['bandwidth', 'ranks'] as const;
export type CurveAxis = (typeof CURVE_AXES)[number];

export const planRequestSchema = z.strictObject({
  spec: z.unknown(),
  /** Numbers of ranks; default: the spec's. */
  ranks: z
    .array(z.int().min(1).max(MOST_PLANNED_RANKS))
    .min(1)
    .max(50)
    .readonly()
    .optional(),
  /** Equal machines that share the ranks; default: those of the spec. */
  machines: z.int().min(1).max(MOST_PLANNED_RANKS).optional(),
  /** Milliseconds of computation in a step; default: measured. */
  compute: z.number().min(0).max(1e9).optional(),
  /** Parameters of the model; default: its own. */
  parameters: z.int().min(1).max(MOST_ELEMENTS).optional(),
  /** The axis of a curve to predict besides. */
  curve: z.enum(CURVE_AXES).optional(),
  /** Whether to time the methods anew. */
  rehearse: z.boolean().optional(),
});
export type PlanRequest = z.infer<typeof planRequestSchema>;
