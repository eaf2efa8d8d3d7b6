/**
 * Schemas of exchange plans and their switches between processes. Keys that only a newer
 * version knows are dropped, here as in all messages; what the methods' own parameters mean
 * is checked by the registries.
 */
import { z } from 'zod';
import { activationPlanSchema } from './activation-plan.ts';
import {
  RESIDUAL_POLICIES,
  RESIDUAL_UNITS,
  type ExchangePlan,
  type Foreseen,
  type PlanSwitch,
} from './exchange-plan.ts';
import { deltaSettingSchema } from './delta-setting.ts';
import type { JsonObject } from '../checks/json.ts';
import { readableQuantizationSchema } from './quantization.ts';
import { switchGuardSchema } from './switch-guard.ts';

const MOST_LAYERS = 100;
/** Switches of one run. */
const MOST_SWITCHES = 100_000;
const text = z.string().max(1000);

const jsonObjectSchema = z.record(z.string(), z.json()) as z.ZodType<JsonObject>;

export const exchangePlanSchema = z.object({
  method: text,
  label: text.optional(),
  parameters: jsonObjectSchema,
  collective: text,
  bucketBytes: z.int().min(1),
  layers: z
    .array(
      z.object({
        match: text,
        method: text,
        label: text.optional(),
        parameters: jsonObjectSchema,
      }),
    )
    .max(MOST_LAYERS)
    .readonly()
    .optional(),
  quantizeSums: readableQuantizationSchema.optional(),
  servers: z.int().min(1).optional(),
  delta: deltaSettingSchema.optional(),
  activations: activationPlanSchema.strip().optional(),
  residualUnits: z.enum(RESIDUAL_UNITS).optional(),
}) satisfies z.ZodType<ExchangePlan>;

/** The step that a switch is predicted to lead to, with its 95 % interval, in milliseconds. */
const foreseenSchema = z.object({
  step: z.number().min(0),
  low: z.number().min(0),
  high: z.number().min(0),
}) satisfies z.ZodType<Foreseen>;

export const planSwitchSchema = z.object({
  epoch: z.int().min(1),
  notBefore: z.int().min(0),
  plan: exchangePlanSchema,
  residual: z.enum(RESIDUAL_POLICIES),
  foreseen: foreseenSchema.optional(),
  guard: switchGuardSchema.optional(),
  why: text.optional(),
}) satisfies z.ZodType<PlanSwitch>;

export const planSwitchesSchema = z
  .array(planSwitchSchema)
  .max(MOST_SWITCHES)
  .readonly();

/** A switch requested at launch (`--switch 50:method=topk`) or during the run (without `at`). */
export const switchRequestSchema = z.object({
  /** Keys of `exchange` to change; keys not named keep their value. */
  change: jsonObjectSchema,
  /** First iteration under the new plan; default: as soon as every rank knows. */
  at: z.int().min(0).optional(),
  residual: z.enum(RESIDUAL_POLICIES).optional(),
  /** The prediction that whoever requests it has seen, for its record. */
  foreseen: foreseenSchema.optional(),
  /** Limits beyond which the run switches back by itself. */
  guard: switchGuardSchema.optional(),
});
export type SwitchRequest = Readonly<z.infer<typeof switchRequestSchema>>;

export const switchRequestsSchema = z
  .array(switchRequestSchema)
  .max(MOST_SWITCHES)
  .readonly();
