/**
 * The use of a run's machines in a part of it: means of every measure for each machine, over columns of
 * iterations, and of each rank and GPU. Made of the records that supervisors make of intervals
 * (`records/utilisation.ts`); an interval that reaches beyond a column counts by its share.
 */
import type { MachineQuery } from './machine-query.ts';
import {
  columnsOf,
  overlap,
  type IterationRange,
} from '../numbers/interval-columns.ts';
import type { GpuUse, RankUse, UtilisationRecord } from '../records/utilisation.ts';
import {
  MACHINE_MEASURE_IDS,
  machineValues,
  type MachineMeasure,
  type MachineValues,
} from './machine-measures.ts';
import { WeightedMeans } from './weighted-means.ts';

/** Most cells of a table: half a megabyte. */
const MOST_CELLS = 50_000;

export interface MachineRow {
  /** The machine, as records name it. */
  readonly node: string;
  /** Processors that the run may use there. */
  readonly processors?: number | undefined;
  /** Bytes of memory. */
  readonly memory?: number | undefined;
  readonly means: MachineValues;
  /** The most of each measure in an interval; of `busy` in a second. */
  readonly most: MachineValues;
  /** Each measure that was observed, in each column; null: not observed there. */
  readonly cells: Readonly<Partial<Record<MachineMeasure, readonly (number | null)[]>>>;
  /** Processors in the mean, and most bytes, of each rank. */
  readonly ranks: readonly RankUse[];
  /** Mean share, and most bytes, of each GPU. */
  readonly gpus: readonly GpuUse[];
}

export interface MachineTable {
  /** Columns, ascending. */
  readonly columns: readonly IterationRange[];
  /** Machines by what other programs take of their processors, then by how busy they are. */
  readonly machines: readonly MachineRow[];
  /** Iterations that records say something of; undefined: none. */
  readonly known?: IterationRange | undefined;
}

interface OpenMachine {
  newest: UtilisationRecord;
  readonly totals: WeightedMeans<MachineMeasure>;
  readonly most: Partial<Record<MachineMeasure, number>>;
  readonly cells: (WeightedMeans<MachineMeasure> | undefined)[];
  readonly ranks: WeightedMeans<number>;
  readonly rankMemory: Map<number, number>;
  readonly gpus: WeightedMeans<string>;
  readonly gpuMemory: Map<string, number>;
}

export class MachineTableBuilder {
  readonly #query: MachineQuery;
  readonly #columns: readonly IterationRange[];
  readonly #machines = new Map<string, OpenMachine>();
  #known: IterationRange | undefined;

  /** @param intervals all intervals of the records that will be added */
  constructor(query: MachineQuery, intervals: readonly IterationRange[]) {
    this.#query = query;
    this.#columns = columnsOf(query, intervals);
  }

  add(record: UtilisationRecord): void {
    const { from, to, wall } = record;
    const part = overlap(record, this.#query) / (to - from);
    if (!(part > 0)) return;
    const known = this.#known ?? { from, to };
    this.#known = { from: Math.min(from, known.from), to: Math.max(to, known.to) };
    const machine = this.#machine(record);
    const values = machineValues(record);
    machine.totals.addAll(MACHINE_MEASURE_IDS, values, part * wall);
    keepMost(machine.most, record, values);
    addParts(machine, record, part * wall);
    const first = this.#columns.findIndex((column) => column.to > from);
    if (first < 0) return;
    for (let index = first; index < this.#columns.length; index++) {
      const column = this.#columns[index]!;
      if (column.from >= to) break;
      const cell = (machine.cells[index] ??= new WeightedMeans());
      const share = overlap(record, column) / (to - from);
      cell.addAll(MACHINE_MEASURE_IDS, values, share * wall);
    }
  }

  table(): MachineTable {
    const rows = [...this.#machines].map(([node, machine]) =>
      rowOf(node, machine, this.#columns.length),
    );
    const cells = rows.reduce((sum, row) => sum + Object.keys(row.cells).length, 0);
    // More machines than a chart can show.
    const isTooLarge = cells * this.#columns.length > MOST_CELLS;
    return {
      columns: isTooLarge ? [] : this.#columns,
      machines: rows
        .toSorted(
          ({ means: a }, { means: b }) =>
            (b.others ?? 0) - (a.others ?? 0) || (b.busy ?? 0) - (a.busy ?? 0),
        )
        .map((row) => (isTooLarge ? { ...row, cells: {} } : row)),
      ...(this.#known === undefined ? {} : { known: this.#known }),
    };
  }

  #machine(record: UtilisationRecord): OpenMachine {
    const { node } = record;
    let machine = this.#machines.get(node);
    if (machine === undefined) {
      machine = {
        newest: record,
        totals: new WeightedMeans(),
        most: {},
        cells: [],
        ranks: new WeightedMeans(),
        rankMemory: new Map(),
        gpus: new WeightedMeans(),
        gpuMemory: new Map(),
      };
      this.#machines.set(node, machine);
    }
    machine.newest = record;
    return machine;
  }
}

function keepMost(
  most: Partial<Record<MachineMeasure, number>>,
  { processors }: UtilisationRecord,
  values: MachineValues,
): void {
  for (const measure of MACHINE_MEASURE_IDS) {
    const value = values[measure];
    if (value !== undefined) most[measure] = Math.max(value, most[measure] ?? 0);
  }
  if (processors === undefined) return;
  const peak = Math.min(1, processors.peak / processors.count);
  most.busy = Math.max(peak, most.busy ?? 0);
}

function addParts(
  { gpuMemory, gpus, rankMemory, ranks }: OpenMachine,
  record: UtilisationRecord,
  weight: number,
): void {
  for (const { busy, memory, rank } of record.ranks) {
    ranks.add(rank, busy, weight);
    if (memory === undefined) continue;
    rankMemory.set(rank, Math.max(memory, rankMemory.get(rank) ?? 0));
  }
  for (const { bus, busy, memory } of record.gpus ?? []) {
    gpus.add(bus, busy, weight);
    if (memory === undefined) continue;
    gpuMemory.set(bus, Math.max(memory, gpuMemory.get(bus) ?? 0));
  }
}

function rowOf(node: string, machine: OpenMachine, columns: number): MachineRow {
  const { cells, gpuMemory, gpus, most, newest, rankMemory, ranks, totals } = machine;
  const means = totals.means();
  return {
    node,
    ...(newest.processors === undefined ? {} : { processors: newest.processors.count }),
    ...(newest.memory === undefined ? {} : { memory: newest.memory.total }),
    means: Object.fromEntries(means),
    most,
    cells: Object.fromEntries(
      [...means.keys()].map((measure) => [
        measure,
        Array.from(
          { length: columns },
          (_, index) => cells[index]?.mean(measure) ?? null,
        ),
      ]),
    ),
    ranks: newest.ranks.map(({ rank }) => ({
      rank,
      ...present('busy', ranks.mean(rank)),
      ...present('memory', rankMemory.get(rank)),
    })),
    gpus: (newest.gpus ?? []).map(({ bus, name, total }) => ({
      bus,
      name,
      ...present('busy', gpus.mean(bus)),
      ...present('memory', gpuMemory.get(bus)),
      ...present('total', total),
    })),
  };
}

const present = <K extends string>(
  key: K,
  value: number | undefined,
): Partial<Record<K, number>> =>
  (value === undefined ? {} : { [key]: value }) as Partial<Record<K, number>>;
