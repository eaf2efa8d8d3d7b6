/** Curves of a chart of machines: of one machine its measures, of several a line for each. */
import type {
  MachineMeasure,
  MachineValues,
} from '../../../shared/utilisation/machine-measures.ts';
import { MACHINE_MEASURES } from '../../../shared/utilisation/machine-measures.ts';
import type {
  MachineRow,
  MachineTable,
} from '../../../shared/utilisation/machine-table.ts';
import type { MachineNames } from '../../../shared/utilisation/machine-text.ts';
import {
  PLACES,
  placesOf,
  styleOf,
  type RunPlaces,
} from '../../state/page/run-places.ts';
import type { Point } from '../curves.ts';
import type { LineSeries } from '../line-series.ts';

/** Machines that have a colour: those with the most. The others are faint. */
export const COLOURED = 5;

/** The share of its processors from which the host of a virtual machine is worth a mention. */
const TAKEN = 0.01;

/** Whether the machine's host gives some of its processors to others. */
export const isTaken = ({ means }: MachineRow): boolean => (means.stolen ?? 0) >= TAKEN;

/** A chart of machines. */
export interface MachineChartKind {
  readonly id: string;
  readonly title: string;
  readonly unit: 'share' | 'rate';
  /** Curves if the run has one machine. */
  readonly ofOne: readonly MachineMeasure[];
  /** Measures whose sum is drawn of each of several machines. */
  readonly ofMany: readonly MachineMeasure[];
}

export const MACHINE_CHARTS: readonly MachineChartKind[] = [
  {
    id: 'processors',
    title: 'Processors',
    unit: 'share',
    ofOne: ['run', 'others', 'busy', 'stolen'],
    ofMany: ['busy'],
  },
  {
    id: 'others',
    title: 'Processors of other programs',
    unit: 'share',
    ofOne: [],
    ofMany: ['others'],
  },
  {
    id: 'memory',
    title: 'Memory',
    unit: 'share',
    ofOne: ['memory'],
    ofMany: ['memory'],
  },
  {
    id: 'network',
    title: 'Network',
    unit: 'rate',
    ofOne: ['sent', 'received', 'loopback'],
    ofMany: ['sent', 'received'],
  },
  {
    id: 'gpus',
    title: 'GPUs',
    unit: 'share',
    ofOne: ['gpu', 'gpuMemory'],
    ofMany: ['gpu'],
  },
];

export interface MachineLine {
  readonly label: string;
  readonly property: string;
  readonly look: LineSeries['look'];
  readonly dash?: readonly number[] | undefined;
  /** The mean over what is shown. */
  readonly mean: number;
  /** A value in each column; null: not observed. */
  readonly cells: readonly (number | null)[];
}

/** The lines of a chart, the most first; none if nothing was observed. A machine looks alike in all charts. */
export function machineLines(
  { ofMany, ofOne }: MachineChartKind,
  { machines }: MachineTable,
  nameOf: MachineNames,
): readonly MachineLine[] {
  const [only] = machines;
  if (machines.length === 1)
    return ofOne.flatMap((measure, place) => ofMeasure(only!, measure, place));
  const lines = machines
    .filter(({ means }) => ofMany.some((measure) => means[measure] !== undefined))
    .map((row) => ({
      node: row.node,
      label: nameOf(row.node),
      mean: sum(row.means, ofMany),
      cells: sumOfCells(row, ofMany),
    }))
    .toSorted((a, b) => b.mean - a.mean);
  const places = placesOf(
    lines.slice(0, COLOURED).map(({ node }) => node),
    ownPlaces(machines),
  );
  return lines.map(({ node, ...line }): MachineLine => {
    const place = places[node];
    if (place === undefined) return { ...line, property: '--ink-soft', look: 'faint' };
    const { dash, property } = styleOf(place);
    return { ...line, property, dash, look: 'line' };
  });
}

/** Places of machines by their names: the order of the table is another one with each read. */
const ownPlaces = (machines: readonly MachineRow[]): RunPlaces =>
  Object.fromEntries(
    machines
      .map(({ node }) => node)
      .toSorted()
      .map((node, index) => [node, index % PLACES]),
  );

/** The largest value of all lines in each column that has one. @param positions of the columns */
export const topsOf = (
  lines: readonly Pick<MachineLine, 'cells'>[],
  positions: readonly number[],
): readonly Point[] =>
  positions.flatMap((x, index) => {
    const values = lines.flatMap(({ cells }) => cells[index] ?? []);
    return values.length === 0 ? [] : [{ x, y: Math.max(...values) }];
  });

function ofMeasure(
  row: MachineRow,
  measure: MachineMeasure,
  place: number,
): readonly MachineLine[] {
  const { cells, means } = row;
  const [mean, own] = [means[measure], cells[measure]];
  if (mean === undefined || own === undefined) return [];
  if (measure === 'stolen' && !isTaken(row)) return [];
  const isSum = measure === 'busy';
  return [
    {
      label: MACHINE_MEASURES[measure].title,
      property: isSum ? '--ink-soft' : styleOf(place).property,
      look: isSum ? 'dashed' : 'line',
      mean,
      cells: own,
    },
  ];
}

const sum = (values: MachineValues, measures: readonly MachineMeasure[]): number =>
  measures.reduce((total, measure) => total + (values[measure] ?? 0), 0);

function sumOfCells(
  { cells }: MachineRow,
  measures: readonly MachineMeasure[],
): readonly (number | null)[] {
  const [first = [], ...others] = measures.map((measure) => cells[measure] ?? []);
  return first.map((value, index) =>
    value === null
      ? null
      : others.reduce((total, more) => total + (more[index] ?? 0), value),
  );
}
