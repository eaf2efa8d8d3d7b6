/**
 * A run's `run.json`: what a later supervisor needs to restore it, without secrets. That one
 * may have another version, and the file may be damaged.
 */
import { z } from 'zod';
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import {
  checkedMessage,
  type Refusal,
} from '../../../shared/protocol/checked-message.ts';
import { planSwitchesSchema } from '../../../shared/plan/plan-schemas.ts';
import { requestSchemas } from '../../../shared/protocol/requests.ts';
import {
  dataFactsSchema,
  modelFactsSchema,
} from '../../training/inspect/inspections.ts';

export const META = 'run.json';

/** The parts of a launch that are stored. */
const LAUNCH = {
  switches: true,
  ranks: true,
  network: true,
  places: true,
  node: true,
  listen: true,
  ports: true,
  slurm: true,
  tree: true,
} as const;

const metaSchema = z.object({
  /** Spec, which is parsed by who restores the run. */
  spec: z.custom<ExperimentSpec>(
    (value) => typeof value === 'object' && value !== null,
    'expected a section with keys',
  ),
  createdAt: z.number(),
  launch: requestSchemas.prepare.pick(LAUNCH).optional(),
  /** The model, if it comes from a file. */
  model: modelFactsSchema.optional(),
  /** Facts read from the data, which may be gone when the run is restored. */
  data: dataFactsSchema.optional(),
  /** Switches requested after the launch. */
  later: planSwitchesSchema.optional(),
});
export type RunMeta = Readonly<z.infer<typeof metaSchema>>;

/** @throws GradwireError `RUN_META_INVALID`, which names the field */
export function parseMeta(text: string, file: string): RunMeta {
  const refusal: Refusal = { code: 'RUN_META_INVALID', what: META, place: file };
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    raw = undefined; // refused below: it is empty, or cut short
  }
  return checkedMessage(metaSchema, raw, refusal);
}
