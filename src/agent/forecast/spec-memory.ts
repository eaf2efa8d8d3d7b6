/** Forecasts the memory that the ranks of a spec need, for some numbers of ranks. */
import { z } from 'zod';
import { checkedOptions } from '../../shared/checks/checked-options.ts';
import {
  parseExperimentSpec,
  type ExperimentSpec,
} from '../../shared/spec/experiment-spec.ts';
import type { MemoryPart } from '../launch/memory-estimate.ts';
import { validateLaunch } from '../launch/validate-launch.ts';
import { inspectSpec as readFacts } from '../training/inspect/inspect-spec.ts';
import { specFactsSchema } from '../training/inspect/inspections.ts';
import type { SpecFacts } from '../training/workload.ts';

const optionsSchema = z.object({
  ranks: z.array(z.int().min(1)).min(1).readonly(),
  known: specFactsSchema.optional(),
});

/**
 * Reads what a spec needs from the user's files.
 * @throws GradwireError if the spec is invalid; errors of the files
 */
export async function inspectSpec(raw: ExperimentSpec): Promise<SpecFacts> {
  return await readFacts(parseExperimentSpec(raw));
}

export interface RankMemory {
  readonly ranks: number;
  readonly parts: readonly MemoryPart[];
}

/**
 * Forecasts the memory of each rank; without a pipeline, which cannot be forecast, all need as
 * much.
 * @throws GradwireError `OPTION_INVALID`; if the spec is invalid; `MEMORY_TOO_SMALL`
 */
export function specMemory(
  raw: ExperimentSpec,
  ranks: readonly number[],
  known?: SpecFacts,
): readonly RankMemory[] {
  checkedOptions(optionsSchema, { ranks, known }, 'specMemory');
  const { memory } = validateLaunch(raw, [], known);
  return ranks.map((count) => ({ ranks: count, parts: memory.ofRank(0, count) }));
}
