/** Lines of several machines. */
import { expect, it } from 'vitest';
import {
  COLOURED,
  MACHINE_CHARTS,
  machineLines,
  type MachineLine,
} from '../../../src/renderer/charts/machines/machine-lines.ts';
import type {
  MachineRow,
  MachineTable,
} from '../../../src/shared/utilisation/machine-table.ts';

const row = (node: string, busy: number, memory: number): MachineRow => ({
  node,
  processors: 64,
  means: { busy, memory },
  most: {},
  cells: { busy: [busy], memory: [memory] },
  ranks: [],
  gpus: [],
});

const tableOf = (machines: readonly MachineRow[]): MachineTable => ({
  columns: [{ from: 0, to: 10 }],
  machines,
});

const linesOf = (id: string, machines: readonly MachineRow[]): readonly MachineLine[] =>
  machineLines(
    MACHINE_CHARTS.find((kind) => kind.id === id)!,
    tableOf(machines),
    (node) => node,
  );

const looks = (lines: readonly MachineLine[]): Record<string, string> =>
  Object.fromEntries(
    lines.map(({ dash, label, property }) => [label, `${property} ${String(dash)}`]),
  );

it('gives a machine the same look in all charts, whatever its place in them', () => {
  const [a, b, c] = [row('a', 0.2, 0.9), row('b', 0.5, 0.1), row('c', 0.9, 0.5)];
  const busy = linesOf('processors', [c, b, a]);
  const memory = linesOf('memory', [a, c, b]);
  expect(busy.map(({ label }) => label)).toEqual(['c', 'b', 'a']);
  expect(memory.map(({ label }) => label)).toEqual(['a', 'c', 'b']);
  expect(looks(busy)).toEqual(looks(memory));
  expect(new Set(Object.values(looks(busy))).size).toBe(3);
});

it('gives the busiest of many machines looks that differ, and leaves the others faint', () => {
  const many = Array.from({ length: 64 }, (_, index) =>
    // The busiest are as far apart as looks repeat.
    row(`node-${String(index).padStart(2, '0')}`, index % 21 === 3 ? 0.9 : 0.1, 0.5),
  );
  const lines = linesOf('processors', many);
  const named = lines.filter(({ look }) => look === 'line');
  expect(named).toHaveLength(COLOURED);
  expect(new Set(Object.values(looks(named))).size).toBe(COLOURED);
  expect(lines).toHaveLength(64);
});
