/** The memory that a plan needs: of a rank, part by part, and of each machine. */
import { machineTitle } from '../machines/machine-names.ts';
import { LOCAL_NODE } from '../machines/node-entry.ts';
import { assignRanks } from '../machines/rank-assignment.ts';
import { formatBytes } from '../words/units.ts';

interface MachineMemory {
  readonly node: string;
  readonly ranks: number;
  readonly bytes: number;
  /** Bytes that the machine has left, where that is known: of this computer. */
  readonly available?: number;
}

/** Memory in bytes. */
export interface PlannedMemory {
  readonly ranks: number;
  readonly perRank: number;
  readonly parts: readonly { readonly name: string; readonly bytes: number }[];
  readonly machines: readonly MachineMemory[];
}

/** @param available bytes that this computer has left */
export function plannedMemory(
  ranks: number,
  parts: PlannedMemory['parts'],
  nodes: readonly string[],
  available: number,
): PlannedMemory {
  const perRank = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  const machines = assignRanks(ranks, nodes).map(([node, share]): MachineMemory => {
    const needs = { node, ranks: share.length, bytes: perRank * share.length };
    return node === LOCAL_NODE ? { ...needs, available } : needs;
  });
  return {
    ranks,
    perRank,
    machines,
    parts: parts.map(({ name, bytes }) => ({ name, bytes })),
  };
}

export function memoryText({ machines, parts, perRank }: PlannedMemory): string {
  const listed = parts.map(({ bytes, name }) => `${name} ${formatBytes(bytes)}`);
  const ofMachines = machines.map(({ available, bytes, node, ranks }) => {
    const left =
      available === undefined
        ? ''
        : available < bytes
          ? `; it has only ${formatBytes(available)} left`
          : `; it has ${formatBytes(available)} left`;
    const times = ranks === 1 ? 'rank' : `${ranks} ranks`;
    return `memory on ${machineTitle(node)}: ${formatBytes(bytes)} for its ${times}${left}`;
  });
  const isCounted = parts.some(({ name }) => name === 'computing');
  const uncounted = isCounted ? '' : ' and what the model computes with';
  return (
    `memory of a rank: about ${formatBytes(perRank)}${uncounted} ` +
    `(${listed.join(', ')})\n${ofMachines.join('\n')}`
  );
}
