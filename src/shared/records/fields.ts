/** Schemas of fields that several kinds of records have. */
import { z } from 'zod';
import { activationPlanSchema } from '../plan/activation-plan.ts';
import type { ErrorData } from '../errors/errors.ts';
import { deltaSettingSchema } from '../plan/delta-setting.ts';
import { RESIDUAL_UNITS } from '../plan/exchange-plan.ts';
import { quantizationSchema } from '../plan/quantization.ts';

/** Milliseconds. */
export const time = z.number().min(0);
export const count = z.number().int().min(0);

/** An exchange plan. */
export const planSchema = z.strictObject({
  method: z.string(),
  label: z.string().optional(),
  parameters: z.record(z.string(), z.json()),
  collective: z.string(),
  bucketBytes: count,
  layers: z
    .array(
      z.strictObject({
        match: z.string(),
        method: z.string(),
        label: z.string().optional(),
        parameters: z.record(z.string(), z.json()),
      }),
    )
    .readonly()
    .optional(),
  quantizeSums: quantizationSchema.optional(),
  servers: count.optional(),
  delta: deltaSettingSchema.optional(),
  activations: activationPlanSchema.optional(),
  residualUnits: z.enum(RESIDUAL_UNITS).optional(),
});

export const errorDataSchema = z.strictObject({
  code: z.string(),
  kind: z.enum(['input', 'failure']),
  message: z.string(),
  place: z.string().optional(),
  next: z.string().optional(),
  rank: count.optional(),
}) satisfies z.ZodType<ErrorData>;

/** The processes of a node's ranks. */
export const processesSchema = z.array(
  z.strictObject({
    rank: count,
    /** The process's id on its machine. */
    pid: count,
    node: z.string(),
    /** The device that computes: a GPU's name, or the CPU. */
    device: z.string().optional(),
    /** A GPU's PCI bus id, as nvidia-smi prints it: `00000000:3B:00.0`. */
    bus: z.string().optional(),
    /** Cores that the rank may use; other ranks may use them, too. */
    cores: count.optional(),
  }),
);
export type RankProcess = z.infer<typeof processesSchema>[number];
