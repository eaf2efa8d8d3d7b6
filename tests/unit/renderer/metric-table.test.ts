/** Loss and metric as a table: whatever is drawn is in it. */
import { expect, test } from 'vitest';
import { withAxisColumn } from '../../../src/renderer/charts/axis-column.ts';
import { AxisMap, axisMapOf } from '../../../src/renderer/charts/axis-map.ts';
import { smoothCurve } from '../../../src/renderer/charts/curves.ts';
import { metricTable } from '../../../src/renderer/charts/metric-table.ts';
import { cellText } from '../../../src/renderer/charts/table-twin.ts';
import { twinCsv } from '../../../src/renderer/charts/twin-csv.ts';
import { RunHistory } from '../../../src/renderer/state/history/run-history.ts';
import type { EvaluationRecord } from '../../../src/shared/records/evaluation.ts';
import { iterationRecord } from './records.ts';

const evaluation = (iteration: number, loss: number): EvaluationRecord => ({
  type: 'evaluation',
  at: iteration,
  iteration,
  loss,
  samples: 100,
  wall: 1,
});

/** A table of 32 iterations of 10 ms, in this number of bins. */
function tableIn(limit: number, evaluations: readonly EvaluationRecord[]) {
  const history = new RunHistory(1);
  for (let iteration = 0; iteration < 32; iteration++)
    history.add(iterationRecord({ rank: 0, iteration, loss: 2, at: 10 * iteration }));
  const bins = history.bins({ from: 0, to: 32, limit });
  const smooth = smoothCurve(bins, 'loss', 0.5);
  return { bins, table: metricTable({ bins, evaluations, field: 'loss', smooth }) };
}

test('has each evaluation once, in a row of its own where a bin has several iterations', () => {
  const evaluations = [evaluation(9, 1.5), evaluation(11, 1.25), evaluation(31, 1)];
  const { bins, table } = tableIn(5, evaluations);
  expect(bins).toHaveLength(4);
  const rows = table.rows.map(({ cells }) => cells.map(cellText));
  expect(rows.map((cells) => [cells[0], cells[1], cells[5]])).toEqual([
    ['0–7', '2', ''],
    ['8–15', '2', ''],
    ['9', '', '1.5'],
    ['11', '', '1.25'],
    ['16–23', '2', ''],
    ['24–31', '2', ''],
    ['31', '', '1'],
  ]);
  expect(new Set(table.rows.map(({ key }) => key)).size).toBe(7);
  expect(twinCsv(table)).toContain('\n9,9,,,,,1.5');
});

test('has an evaluation beside the training of its iteration where each has a row', () => {
  const { table } = tableIn(33, [evaluation(9, 1.5)]);
  expect(table.rows).toHaveLength(32);
  expect(table.rows[9]!.cells.map(cellText)).toEqual([
    '9',
    ...Array(4).fill('2'),
    '1.5',
  ]);
});

test('has the place of an evaluation on another axis', () => {
  const { bins, table } = tableIn(5, [evaluation(10, 1.5)]);
  const map = axisMapOf('time', { whole: bins, part: [], length: 32 });
  const { columns, rows } = withAxisColumn({ map }, table);
  expect(columns.slice(0, 2)).toEqual(['iteration', 's since start']);
  expect(rows.slice(1, 3).map(({ cells }) => cellText(cells[1]!))).toEqual([
    '0.115',
    '0.100',
  ]);
  expect(withAxisColumn({ map: new AxisMap('iteration') }, table)).toEqual(table);
});
