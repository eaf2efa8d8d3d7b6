/** The machine of each rank of a run, from the run's records, and in words. */
import { HERE, machineName } from '../machines/machine-names.ts';
import { rankSpans } from '../machines/rank-spans.ts';
import type { RankProcess } from './fields.ts';
import type { RunEvent } from './record-kinds.ts';

/** Returns the process of each rank, by rank; one that resumed elsewhere is listed there. */
export function rankProcesses(events: readonly RunEvent[]): readonly RankProcess[] {
  const newest = new Map<number, RankProcess>();
  for (const event of events) {
    if (event.type !== 'started' && event.type !== 'restarted') continue;
    for (const process of event.processes) newest.set(process.rank, process);
  }
  return [...newest.values()].sort((a, b) => a.rank - b.rank);
}

/**
 * `ranks 0–1 on this computer, 2–3 on box`
 * @param nodes the machines of the run, as its spec names them
 */
export function ranksOn(
  processes: readonly RankProcess[],
  nodes: readonly string[],
): string {
  const places = [...ranksByMachine(processes, nodes)].map(
    ([machine, ranks]) => `${rankSpans(ranks)} on ${machine}`,
  );
  return `${processes.length === 1 ? 'rank' : 'ranks'} ${places.join(', ')}`;
}

/** Says the same as `ranksOn`; undefined if this computer has all ranks. */
export function describePlaces(
  processes: readonly RankProcess[],
  nodes: readonly string[],
): string | undefined {
  const machines = [...ranksByMachine(processes, nodes).keys()];
  return machines.every((machine) => machine === HERE)
    ? undefined
    : ranksOn(processes, nodes);
}

function ranksByMachine(
  processes: readonly RankProcess[],
  nodes: readonly string[],
): ReadonlyMap<string, readonly number[]> {
  const ranksOf = new Map<string, number[]>();
  for (const { rank, node } of processes.toSorted((a, b) => a.rank - b.rank)) {
    const machine = machineName(node, nodes);
    ranksOf.set(machine, [...(ranksOf.get(machine) ?? []), rank]);
  }
  return ranksOf;
}

/** `rank 0 at 00000000:3B:00.0, rank 1 at …`: the GPUs of ranks, where drivers say. */
export function describeGpus(processes: readonly RankProcess[]): string | undefined {
  const known = processes
    .toSorted((a, b) => a.rank - b.rank)
    .flatMap(({ rank, bus }) => (bus === undefined ? [] : `rank ${rank} at ${bus}`));
  return known.length === 0 ? undefined : `GPUs: ${known.join(', ')}`;
}
