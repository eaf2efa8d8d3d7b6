/** On which machine each rank of a run is, in one line. */
import type { StartedProcess } from '../../shared/rank-places.ts';
import { rankSpans } from '../../shared/rank-spans.ts';

/** `ranks 0–1 on this-computer, 2–3 on box`; undefined if one machine has all ranks. */
export function describePlaces(
  processes: readonly StartedProcess[],
): string | undefined {
  const ranksOf = new Map<string, number[]>();
  for (const { rank, node } of processes.toSorted((a, b) => a.rank - b.rank)) {
    ranksOf.set(node, [...(ranksOf.get(node) ?? []), rank]);
  }
  if (ranksOf.size < 2) return undefined;
  const places = [...ranksOf].map(([node, ranks]) => `${rankSpans(ranks)} on ${node}`);
  return `ranks ${places.join(', ')}`;
}

/** `rank 0 at 00000000:3B:00.0, rank 1 at …`: the GPUs of ranks, where drivers say. */
export function describeGpus(processes: readonly StartedProcess[]): string | undefined {
  const known = processes
    .toSorted((a, b) => a.rank - b.rank)
    .flatMap(({ rank, bus }) => (bus === undefined ? [] : `rank ${rank} at ${bus}`));
  return known.length === 0 ? undefined : `GPUs: ${known.join(', ')}`;
}
