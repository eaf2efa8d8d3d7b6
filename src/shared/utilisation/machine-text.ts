/** Machines in words, the same on the page and on the command line. */
import { formatBytes, formatPercent, formatWholePercent } from '../words/units.ts';
import { MACHINE_MEASURES, type MachineMeasure } from './machine-measures.ts';
import type { MachineRow, MachineTable } from './machine-table.ts';

/** Returns a machine's name in texts. */
export type MachineNames = (node: string) => string;

/** The share of a machine's processors from which other programs are worth a sentence. */
const NOTABLE = 0.1;
/** The share of busy processors from which there are none to spare. */
const FULL = 0.9;

/** A rate of bytes: `12.3 MB/s`. */
export const formatByteRate = (bytes: number | undefined): string =>
  bytes === undefined ? formatBytes(bytes) : `${formatBytes(bytes)}/s`;

/** A value of a measure with its unit; a dash if it was not observed. */
export const machineMeasureText = (
  measure: MachineMeasure,
  value: number | null | undefined,
): string =>
  (MACHINE_MEASURES[measure].unit === 'rate' ? formatByteRate : formatPercent)(
    value ?? undefined,
  );

/** Processors: `1.83`, `0`; a dash if they were not observed. */
export const processorsText = (processors: number | undefined): string =>
  processors === undefined ? '–' : String(Number(processors.toPrecision(3)));

/** A sentence that says what matters of the machines. */
export function describeMachines(
  { machines }: MachineTable,
  nameOf: MachineNames,
): string {
  const [first] = machines;
  if (first === undefined) return 'Nothing recorded of machines in these iterations.';
  return [...takenText(machines, nameOf), plainText(machines, nameOf)].join(' ');
}

/** Says who else takes processors, where somebody does. */
function takenText(
  machines: readonly MachineRow[],
  nameOf: MachineNames,
): readonly string[] {
  return (['others', 'stolen'] as const).flatMap((measure) => {
    const taken = machines
      .filter(({ means }) => (means[measure] ?? 0) >= NOTABLE)
      .toSorted((a, b) => b.means[measure]! - a.means[measure]!);
    const [worst] = taken;
    if (worst === undefined) return [];
    const { means, node } = worst;
    const who = measure === 'others' ? 'Other programs take' : 'The host gives others';
    const share = formatWholePercent(means[measure]);
    const more = taken.length - 1;
    const also =
      more === 0 ? '' : ` and of ${more} more ${more === 1 ? 'machine' : 'machines'}`;
    const isFull = (means.busy ?? 0) + (means.stolen ?? 0) >= FULL;
    const harm = isFull
      ? ', which have nothing to spare: ranks there wait for them'
      : '';
    return [`${who} ${share} of ${nameOf(node)}’s processors${also}${harm}.`];
  });
}

function plainText(machines: readonly MachineRow[], nameOf: MachineNames): string {
  const busiest = machines.reduce((a, b) =>
    (b.means.busy ?? 0) > (a.means.busy ?? 0) ? b : a,
  );
  const { means, memory, processors } = busiest;
  const parts = [
    means.run === undefined || processors === undefined
      ? means.busy === undefined
        ? []
        : `${formatWholePercent(means.busy)} of the processors are busy`
      : `the run keeps ${processorsText(means.run * processors)} of ${processorsText(processors)} processors busy`,
    means.memory === undefined || memory === undefined
      ? []
      : `${formatWholePercent(means.memory)} of ${formatBytes(memory)} of memory is in use`,
    means.gpu === undefined
      ? []
      : `GPUs are busy for ${formatWholePercent(means.gpu)} of the time`,
  ].flat();
  const text = parts.join(', ');
  if (machines.length > 1) {
    return `The busiest of ${machines.length} machines is ${nameOf(busiest.node)}: ${text}.`;
  }
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
