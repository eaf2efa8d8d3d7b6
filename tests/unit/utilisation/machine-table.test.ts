import { expect, test } from 'vitest';
import type { UtilisationRecord } from '../../../src/shared/records/utilisation.ts';
import type { MachineQuery } from '../../../src/shared/utilisation/machine-query.ts';
import {
  MachineTableBuilder,
  type MachineTable,
} from '../../../src/shared/utilisation/machine-table.ts';
import { describeMachines } from '../../../src/shared/utilisation/machine-text.ts';

/** @param busy processors of 4 that the rank keeps busy, and others */
function record(
  node: string,
  [from, to]: readonly [number, number],
  [rank, others]: readonly [number, number],
  more: Partial<UtilisationRecord> = {},
): UtilisationRecord {
  const busy = rank + others;
  return {
    type: 'utilisation',
    at: 0,
    node,
    from,
    to,
    wall: 1000,
    processors: { count: 4, busy, peak: busy },
    ranks: [{ rank: 0, busy: rank, memory: 100 * to }],
    ...more,
  };
}

function tableOf(
  records: readonly UtilisationRecord[],
  query: Partial<MachineQuery> = {},
): MachineTable {
  const builder = new MachineTableBuilder(
    { from: 0, to: 100, columns: 300, ...query },
    records,
  );
  for (const one of records) builder.add(one);
  return builder.table();
}
const say = (table: MachineTable): string => describeMachines(table, (node) => node);

test('columns are the intervals; means weigh them by their time', () => {
  const table = tableOf([
    record('a', [0, 10], [2, 0]),
    record('a', [10, 20], [1, 1], { wall: 3000 }),
  ]);
  expect(table.columns).toEqual([
    { from: 0, to: 10 },
    { from: 10, to: 20 },
  ]);
  expect(table.known).toEqual({ from: 0, to: 20 });
  expect(table.machines).toEqual([
    {
      node: 'a',
      processors: 4,
      means: { busy: 0.5, run: 0.3125, others: 0.1875 },
      most: { busy: 0.5, run: 0.5, others: 0.25 },
      cells: { busy: [0.5, 0.5], run: [0.5, 0.25], others: [0, 0.25] },
      ranks: [{ rank: 0, busy: 1.25, memory: 2000 }],
      gpus: [],
    },
  ]);
  const part = tableOf([record('a', [0, 10], [2, 0])], { from: 4, to: 6 });
  expect(part.columns).toEqual([{ from: 4, to: 6 }]);
  expect(
    tableOf([record('a', [0, 10], [2, 0])], { from: 10, to: 20 }).machines,
  ).toEqual([]);
});

test('the machine of which others take most comes first, and is named', () => {
  const table = tableOf([
    record('box', [0, 10], [4, 0]),
    record('crate', [0, 12], [2, 2]),
    record('tin', [0, 10], [1, 0.5]),
  ]);
  expect(table.machines.map(({ node }) => node)).toEqual(['crate', 'tin', 'box']);
  expect(say(table)).toBe(
    'Other programs take 50 % of crate’s processors and of 1 more machine, which have nothing to ' +
      'spare: ranks there wait for them. The busiest of 3 machines is crate: the run keeps 2 of 4 ' +
      'processors busy.',
  );
  expect(say(tableOf([record('box', [0, 10], [3, 0.1])]))).toBe(
    'The run keeps 3 of 4 processors busy.',
  );
  expect(say(tableOf([]))).toBe('Nothing recorded of machines in these iterations.');
});

test('where ranks are not known, neither are others; GPUs are the mean over all', () => {
  const gpu = { name: 'G', busy: 0.5, memory: 1, total: 4 };
  const [row] = tableOf([
    record('a', [0, 1], [1, 1], {
      ranks: [{ rank: 0 }],
      gpus: [
        { bus: '0:1', ...gpu },
        { bus: '0:2', name: 'G', busy: 1 },
      ],
      memory: { total: 8, used: 2 },
      network: { sent: 1, received: 2, loopback: 3 },
    }),
  ]).machines;
  expect(row!.means).toEqual({
    busy: 0.5,
    memory: 0.25,
    gpu: 0.75,
    gpuMemory: 0.25,
    sent: 1,
    received: 2,
    loopback: 3,
  });
  expect(row!.gpus).toEqual([
    { bus: '0:1', ...gpu },
    { bus: '0:2', name: 'G', busy: 1 },
  ]);
  expect(row!.ranks).toEqual([{ rank: 0 }]);
});

test('the memory of GPUs of different sizes is one sum', () => {
  const full = { name: 'G', memory: 80, total: 80 };
  const empty = { name: 'H', memory: 0, total: 24 };
  const [row] = tableOf([
    record('a', [0, 1], [1, 1], {
      ranks: [{ rank: 0 }],
      gpus: [
        { bus: '0:1', ...full },
        { bus: '0:2', ...empty },
      ],
    }),
  ]).machines;
  expect(row!.means.gpuMemory).toBeCloseTo(80 / 104, 12);
});

test('machines too many for columns keep their means', () => {
  const records = Array.from({ length: 400 }, (_, index) =>
    record(`n${index}`, [index, index + 1], [1, 0]),
  );
  const { columns, machines } = tableOf(records, { to: 400 });
  expect([columns, machines[0]!.cells]).toEqual([[], {}]);
  expect(machines).toHaveLength(400);
});
