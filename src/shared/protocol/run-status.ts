/** The state of a run, as its supervisor tells it. */
import { z } from 'zod';
import type { PlanSwitch } from '../plan/exchange-plan.ts';
import { plainIssue } from '../checks/plain-issue.ts';
import { readableSpec, type ExperimentSpec } from '../spec/experiment-spec.ts';
import { endsJournal, type JournalEnding } from '../records/journal-entry.ts';
import { runRecordSchema } from '../records/record-kinds.ts';
import { runIdSchema } from '../checks/run-id.ts';
import { planSwitchesSchema } from '../plan/plan-schemas.ts';

/** Far more than ranks or checkpoints of a run. */
const MOST_NUMBERS = 100_000;
const count = z.int().min(0);
const counts = z.array(count).max(MOST_NUMBERS).readonly();

const RUN_PHASES = ['preparing', 'running', 'interrupted', 'ended'] as const;
/** `interrupted`: something was lost; the run resumes from a checkpoint when it can. */
export type RunPhase = (typeof RUN_PHASES)[number];

export interface RunStatus {
  readonly run: string;
  readonly phase: RunPhase;
  readonly spec: ExperimentSpec;
  readonly lastSequence: number;
  readonly createdAt: number;
  /**
   * Ranks of the run here; missing in older versions, and for ended runs that a dead
   * supervisor left.
   */
  readonly ranks?: readonly number[] | undefined;
  /** Switches requested since the start; missing in versions that knew only one node. */
  readonly switches?: readonly PlanSwitch[] | undefined;
  /** Iterations from which the ranks here can resume an interrupted run, ascending. */
  readonly resumable?: readonly number[] | undefined;
  /**
   * All switches of an interrupted run. One that has taken effect has its fence as `at`,
   * which the node of rank 0 knows.
   */
  readonly schedule?: readonly PlanSwitch[] | undefined;
  /**
   * The closing record of an ended run. A journal that was damaged, or cut short when the
   * machine lost power, ends before what an app has stored of it, so that its last entry
   * would look stored. Missing in older versions.
   */
  readonly ending?: JournalEnding | undefined;
}

/** A spec as another version may send it, without the keys that only a newer version knows. */
export const sentSpecSchema = z.unknown().transform((raw, context): ExperimentSpec => {
  const read = readableSpec(raw);
  if (read.success) return read.data;
  for (const issue of read.error.issues) {
    const message = plainIssue(issue);
    context.issues.push({ code: 'custom', path: [...issue.path], message, input: raw });
  }
  return z.NEVER;
});

const endingSchema = runRecordSchema.refine(endsJournal, 'it ends no journal');

export const runStatusSchema = z.object({
  run: runIdSchema,
  phase: z.enum(RUN_PHASES),
  spec: sentSpecSchema,
  lastSequence: count,
  createdAt: z.number(),
  ranks: counts.optional(),
  switches: planSwitchesSchema.optional(),
  resumable: counts.optional(),
  schedule: planSwitchesSchema.optional(),
  /** The closing record; missing if only another version knows its type. */
  ending: (endingSchema as z.ZodType<JournalEnding>).optional().catch(undefined),
}) satisfies z.ZodType<RunStatus>;
