/** Tables of a run: as CSV and as Parquet they have the same rows, and these are the records. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COLUMN_FIELDS } from '../../../src/export/tables/iteration-columns.ts';
import {
  EXPORT_TABLE_IDS,
  type ExportTableId,
} from '../../../src/shared/records/export-tables.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';
import {
  done,
  entries,
  iterationRecord,
  sampleSpec,
  started,
  switchRecord,
  wholeRun,
} from '../main/sample-records.ts';
import { bucketSums, utilisation } from './measure-records.ts';
import { asText, csvRows, parquetRows, partsOf } from './exported.ts';

const NAME = '=1+1,"<script>" é𝛽';
const HOSTILE = `${NAME}\r\n\u0000`;
const temporary = new TemporaryStore();
const { store } = temporary;
const evaluations: readonly RunRecord[] = [3, 9].map((iteration) => ({
  type: 'evaluation',
  iteration,
  at: 7.5,
  loss: 0.1 + 0.2,
  metric: iteration / 10,
  averaged: { loss: 1e-300 },
  samples: 2 ** 40,
  wall: 12,
}));
const notice: RunRecord = {
  type: 'notice',
  at: 3,
  level: 'info',
  code: 'COLLECTIVE_CHOSEN',
  message: HOSTILE,
};

beforeAll(() => {
  const create = (id: string, name: string, records: readonly RunRecord[]): void => {
    store.create({ id, spec: sampleSpec({ name }), switches: [], createdAt: 1 });
    store.records.append(id, entries(records));
  };
  create('r', NAME, [
    started,
    iterationRecord(3, 0),
    { ...iterationRecord(3, 1), wall: 1 / 3, drained: true, exchanged: false },
    switchRecord(4, 'none', 'topk'),
    evaluations[0]!,
    notice,
    // Iteration 9 has an evaluation and no record of rank 0.
    {
      ...iterationRecord(9, 1),
      at: 2 ** 53 - 1,
      loss: -1e300,
      phases: { ...iterationRecord(9, 1).phases, wait: 0, other: 1.5 },
    },
    evaluations[1]!,
    ...bucketSums,
    ...utilisation,
    done,
  ]);
  create('empty', 'empty', []);
  store.create({ id: 'long', spec: sampleSpec(), switches: [], createdAt: 2 });
  store.records.append('long', wholeRun(6000));
});
afterAll(() => {
  temporary.close();
});

const COUNTS: Readonly<Record<ExportTableId, number>> = {
  iterations: 4,
  evaluations: 2,
  switches: 1,
  events: 6,
  buckets: 4,
  machines: 2,
  processes: 3,
  gpus: 1,
};

describe.each(EXPORT_TABLE_IDS)('the table of %s', (table) => {
  test('has the same rows as CSV and as Parquet', async () => {
    const csv = await csvRows(store, 'r', table);
    const { rows } = await parquetRows(store, 'r', table);
    expect(csv).toHaveLength(COUNTS[table]);
    expect(rows.map(asText)).toEqual(csv);
  });

  test('of a run without records has its columns and no rows', async () => {
    expect(await csvRows(store, 'empty', table)).toEqual([]);
    const { metadata, rows } = await parquetRows(store, 'empty', table);
    expect(rows).toEqual([]);
    const full = await parquetRows(store, 'r', table);
    expect(metadata.schema).toEqual(full.metadata.schema);
  });
});

test('iterations are as they were recorded, each field in its column', async () => {
  const { rows } = await parquetRows(store, 'r', 'iterations');
  expect(rows.map(({ iteration, rank }) => [iteration, rank])).toEqual([
    [3n, 0n],
    [3n, 1n],
    [9n, 1n],
    [9n, null],
  ]);
  const record = iterationRecord(3, 0);
  for (const { column, field, path } of COLUMN_FIELDS) {
    if (path[0] === 'waitedFor') continue;
    const recorded = path.reduce<unknown>(
      (within, name) =>
        (within as Readonly<Record<string, unknown>> | undefined)?.[name],
      record,
    );
    const stored = rows[0]![column];
    const value = typeof stored === 'bigint' ? Number(stored) : stored;
    expect(value, column).toBe(recorded ?? field.absent ?? null);
  }
  // Rank 1 waited, and its record does not say for whom.
  expect(rows.map((row) => [row['waited_for_0_ms'], row['waited_for_1_ms']])).toEqual([
    [0, 1],
    [null, null],
    [0, 0],
    [null, null],
  ]);
  expect(rows[1]).toMatchObject({ wall_ms: 1 / 3, drained: 1n, exchanged: 0n });
  expect(rows[2]).toMatchObject({ at_ms: 2 ** 53 - 1, loss: -1e300 });
  expect(rows.map((row) => row['evaluation_metric'])).toEqual([0.3, null, null, 0.9]);
});

test('events have what happened in words, and whole', async () => {
  const { rows } = await parquetRows(store, 'r', 'events');
  const records = rows.map(({ record }) => JSON.parse(String(record)) as RunRecord);
  expect(records).toEqual(store.reads.detail('r').events);
  const said = rows.find(({ type }) => type === 'notice')!;
  expect(said['text']).toBe(HOSTILE);
  const [change] = (await parquetRows(store, 'r', 'switches')).rows;
  expect(change).toMatchObject({ iteration: 4n, from_method: 'none' });
  expect(JSON.parse(String(change!['to']))).toMatchObject({ method: 'topk' });
  const tested = await parquetRows(store, 'r', 'evaluations');
  expect(tested.rows[0]).toMatchObject({
    loss: 0.1 + 0.2,
    averaged_loss: 1e-300,
    samples: BigInt(2 ** 40),
    metric_name: 'accuracy',
  });
});

test('buckets and machines have what pages and commands draw of the same intervals', async () => {
  const { rows } = await parquetRows(store, 'r', 'buckets');
  expect(rows[0]).toMatchObject({
    bucket: '=a … "b"',
    length: 1000n,
    sum_wait_ms: 3,
    sum_send_ms: 0,
    wait_ms: 3 / 4,
    payload_bytes: 1000,
    sent_bytes: 500,
    density: 0.01,
    error: 0.5,
    residual_norm: null,
    sum_nnz_reduced: null,
  });
  const whole = { from: 0, to: 4, columns: 0 };
  const drawn = await store.buckets.table('r', { ...whole, measure: 'time' });
  for (const { means, name } of drawn.buckets) {
    const own = rows.filter(({ bucket }) => bucket === name);
    const meanOf = (column: string): number =>
      own.reduce((sum, row) => sum + Number(row[column]), 0) / own.length;
    expect(own).toHaveLength(2);
    expect(meanOf('time_ms')).toBeCloseTo(means.time!, 12);
    expect(meanOf('wait_ms')).toBeCloseTo(means.wait!, 12);
  }
  const machines = await parquetRows(store, 'r', 'machines');
  const [machine] = (await store.utilisation.table('r', whole)).machines;
  expect(machines.rows[0]).toMatchObject({
    machine: 'this computer',
    processors: 4,
    memory_used_bytes: BigInt(2 ** 38),
    busy_share: 0.75,
    run_share: 0.5625,
    memory_share: 0.25,
    loopback_bytes_per_s: machine!.means.loopback,
    stolen_share: null,
  });
  expect(machine!.means.others).toBe(machines.rows[0]!['others_share']);
  const processes = await parquetRows(store, 'r', 'processes');
  expect(processes.rows.map((row) => row['processors_busy'])).toEqual([1.5, 0.5, null]);
});

test('Parquet says of which run it is, and comes a group of rows at a time', async () => {
  const { metadata } = await parquetRows(store, 'r', 'switches');
  expect(metadata.created_by).toBe('gradwire 1.2.3');
  const facts = new Map(
    metadata.key_value_metadata!.map(({ key, value }) => [key, value!]),
  );
  expect(facts.get('gradwire.name')).toBe(NAME);
  expect(JSON.parse(facts.get('gradwire.spec')!)).toEqual(sampleSpec({ name: NAME }));

  const parts = await partsOf(store, 'long', { format: 'parquet' });
  const long = await parquetRows(store, 'long', 'iterations');
  expect(long.rows).toHaveLength(12_000);
  expect(long.metadata.row_groups).toHaveLength(2);
  // The head of the file, the first group, and the second with the end.
  expect(parts.filter((part) => part.length > 0)).toHaveLength(3);
  expect(long.rows.map(({ iteration }) => Number(iteration))).toEqual(
    Array.from({ length: 12_000 }, (_, row) => Math.floor(row / 2)),
  );
});
