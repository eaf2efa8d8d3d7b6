/** The number of a figure's runs that are made side by side: one where times are judged. */
import { expect, test } from 'vitest';
import { figures } from '../../../src/reproduce/figures/registry.ts';
import { plannedRuns, type PlannedRun } from '../../../src/reproduce/planned-runs.ts';
import { runsAtOnce } from '../../../src/reproduce/side-by-side.ts';

const runs = (
  count: number,
  ranks: readonly number[],
  backend = 'auto',
): readonly PlannedRun[] =>
  Array.from({ length: count }, (_, at) => {
    const spec = { backend, world: { ranks: ranks[at % ranks.length] } };
    return { spec } as unknown as PlannedRun;
  });
const GB = 1e9;

test.each([
  ['one processor', runs(20, [2]), 1, 1],
  ['two processors', runs(20, [2]), 2, 2],
  ['many ranks on two processors', runs(20, [16]), 2, 2],
  ['single ranks: no more than processors', runs(20, [1]), 2, 2],
  ['the run with the most ranks decides', runs(20, [2, 8]), 16, 4],
  ['two ranks on many processors', runs(20, [2]), 64, 6],
  ['fewer runs', runs(3, [2]), 64, 3],
  ['one run', runs(1, [8]), 2, 1],
])('%s', (_, planned, processors, atOnce) => {
  expect(runsAtOnce({}, planned, { processors, memory: 1000 * GB })).toBe(atOnce);
});

test('memory is enough for all that run, and one always does', () => {
  const atOnce = (backend: string, memory: number): number =>
    runsAtOnce({}, runs(20, [2, 8], backend), { processors: 2, memory });
  expect(atOnce('torch', 16 * GB)).toBe(2);
  expect(atOnce('torch', 6 * GB)).toBe(1);
  expect(atOnce('wasm', 6 * GB)).toBe(2);
  expect(atOnce('torch', 1 * GB)).toBe(1);
});

test.each(figures.map((figure) => [figure.id, figure] as const))('%s', (_, figure) => {
  const large = { processors: 16, memory: 1000 * GB };
  const atOnce = runsAtOnce(figure, plannedRuns(figure), large);
  if (figure.timed) expect(atOnce).toBe(1);
  else expect(atOnce).toBeGreaterThan(1);
});
