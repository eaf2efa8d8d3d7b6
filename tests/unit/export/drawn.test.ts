/**
 * Exported equals drawn equals recorded, for every field that charts show: the columns of an export
 * give the bins that charts are drawn from, and both the records.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { meanOf, readRunBins } from '../../../src/export/report/run-bins.ts';
import { runPictures } from '../../../src/export/report/run-pictures.ts';
import { storedRuns } from '../../../src/cli/session/stored-runs.ts';
import {
  BANDED_FIELDS,
  FIELDS,
  type BandedField,
  type Field,
} from '../../../src/shared/records/chart-fields.ts';
import { CHART_FIELDS } from '../../../src/shared/records/iteration.ts';
import { COLUMN_FIELDS } from '../../../src/export/tables/iteration-columns.ts';
import type { IterationField } from '../../../src/shared/records/iteration-field.ts';
import { ACCURACY } from '../../../src/shared/records/metric.ts';
import { PHASES } from '../../../src/shared/records/phases.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';
import {
  entries,
  iterationRecord,
  sampleSpec,
  started,
} from '../main/sample-records.ts';
import { parquetRows, type Rows } from './exported.ts';

const ITERATIONS = 700; // more than a chart has points
const temporary = new TemporaryStore();
const { store } = temporary;
let rows: Rows;

/** Numbers that differ everywhere, and are absent here and there. */
function record(iteration: number, rank: number) {
  const at = (n: number): number => ((iteration * 31 + rank * 17 + n * 7) % 97) + n / 8;
  const base = iterationRecord(iteration, rank);
  const { loss, ...unmeasured } = base;
  return {
    ...unmeasured,
    ...(iteration % 3 === 0 ? {} : { loss: loss! / 3, metric: at(1) / 100 }),
    wall: at(2),
    overlapped: at(3),
    phases: { ...base.phases, compute: at(4), wait: at(5), forward: at(6) },
    bytes: { ...base.bytes, payload: Math.round(at(7)), wireSent: Math.round(at(8)) },
    ...(rank === 0 ? { residualNorm: at(9), density: at(10) / 100 } : {}),
    nnzReduced: Math.round(at(11)),
  };
}

beforeAll(async () => {
  store.create({ id: 'r', spec: sampleSpec(), switches: [], createdAt: 1 });
  const records = Array.from({ length: 2 * ITERATIONS }, (_, n) =>
    record(Math.floor(n / 2), n % 2),
  );
  store.records.append('r', entries([started, ...records]));
  ({ rows } = await parquetRows(store, 'r', 'iterations'));
});
afterAll(() => {
  temporary.close();
});

const columns = new Map(
  COLUMN_FIELDS.flatMap(({ column, path }) =>
    path[0] === 'activations' ? [] : [[path.at(-1)!, column] as const],
  ),
);

/** Exported values of a field in some iterations. */
const exported = (field: Field, from: number, to: number): readonly number[] =>
  rows
    .filter(({ iteration }) => Number(iteration) >= from && Number(iteration) < to)
    .map((row) => row[columns.get(field)!])
    .filter((value) => value !== null)
    .map(Number);

const mean = (values: readonly number[]): number | undefined =>
  values.length === 0
    ? undefined
    : values.reduce((sum, value) => sum + value, 0) / values.length;

test('every charted field has a column', () => {
  const charted = Object.entries<IterationField>(CHART_FIELDS).flatMap(
    ([name, { chart }]) => (chart === undefined ? [] : [name]),
  );
  expect([...PHASES, ...charted].toSorted()).toEqual(FIELDS.toSorted());
  for (const field of FIELDS)
    expect(rows[0], field).toHaveProperty(columns.get(field)!);
});

describe.each(FIELDS)('%s', (field) => {
  test('is drawn as it was exported and recorded', async () => {
    const bins = await readRunBins(storedRuns(store), 'r', ITERATIONS);
    expect(bins.length).toBeGreaterThan(100);
    for (const bin of bins) {
      const values = exported(field, bin.from, bin.to);
      const drawn = meanOf([bin], field);
      if (values.length === 0) expect(drawn).toBeUndefined();
      else expect(drawn).toBeCloseTo(mean(values)!, 6);
      if (!(BANDED_FIELDS as readonly string[]).includes(field)) continue;
      const extremes =
        values.length === 0 ? undefined : [Math.min(...values), Math.max(...values)];
      expect(bin.extremes(field as BandedField)).toEqual(extremes);
    }
  });
});

test('bytes have a gap where nothing was sent, and no line of zeros alone', () => {
  const sent = [4000, 0, 2000];
  const bins = sent.map((bytes, from) => ({
    from,
    to: from + 1,
    sum: (field: Field) => (field === 'payload' ? bytes : 0),
    count: () => 1,
    extremes: () => undefined,
  }));
  const run = { iterations: 3, bins, evaluations: [], metric: ACCURACY, markers: [] };
  const picture = runPictures(run).find(({ title }) => title === 'Bytes on the wire')!;
  expect(picture.series.map(({ label }) => label)).toEqual(['payload']);
  expect(picture.series[0]!.points).toEqual([
    { x: 0, y: 4000 },
    { x: 1, y: NaN },
    { x: 2, y: 2000 },
  ]);
  expect([picture.y.min, picture.y.max]).toEqual([1000, 10_000]);
});

test('pictures have these points, and no others', async () => {
  const bins = await readRunBins(storedRuns(store), 'r', ITERATIONS);
  const pictures = runPictures({
    iterations: ITERATIONS,
    bins,
    evaluations: [],
    metric: ACCURACY,
    markers: [],
  });
  expect(pictures.map(({ title }) => title)).toEqual([
    'Where the step goes',
    'Loss',
    'Accuracy',
    'Bytes on the wire',
    'Density',
  ]);
  const shown: readonly (readonly [picture: number, label: string, field: Field])[] = [
    [0, 'compute', 'compute'],
    [0, 'wait', 'wait'],
    [1, 'training batches, mean over ranks', 'loss'],
    [2, 'training batches, mean over ranks', 'metric'],
    [3, 'payload', 'payload'],
    [3, 'wire, sent', 'wireSent'],
    [4, 'sent', 'density'],
  ];
  for (const [picture, label, field] of shown) {
    const series = pictures[picture]!.series.find((one) => one.label === label)!;
    expect(series.points.length, label).toBeGreaterThan(100);
    for (const { x, y } of series.points) {
      const bin = bins.find(({ from, to }) => (from + to - 1) / 2 === x)!;
      expect(y).toBeCloseTo(mean(exported(field, bin.from, bin.to))!, 6);
    }
  }
});
