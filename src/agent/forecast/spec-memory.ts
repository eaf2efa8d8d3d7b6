/** What the ranks of a spec need in memory, for some numbers of ranks. */
import type { ExperimentSpec } from '../../shared/experiment-spec.ts';
import type { MemoryPart } from '../launch/memory-estimate.ts';
import { validateLaunch } from '../launch/validate-launch.ts';
import type { SpecFacts } from '../training/workload.ts';

export { inspectSpec } from '../training/inspect/inspect-spec.ts';

export interface RankMemory {
  readonly ranks: number;
  readonly parts: readonly MemoryPart[];
}

/**
 * Of each rank; without a pipeline, which cannot be forecast, all need as much.
 * @throws GradwireError if the spec is invalid; `MEMORY_TOO_SMALL`
 */
export function specMemory(
  raw: ExperimentSpec,
  ranks: readonly number[],
  known?: SpecFacts,
): readonly RankMemory[] {
  const { memory } = validateLaunch(raw, [], known);
  return ranks.map((count) => ({ ranks: count, parts: memory.ofRank(0, count) }));
}
