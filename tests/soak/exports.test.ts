/** Exports as their readers see them: Parquet in pyarrow, event files in TensorBoard. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ensurePython, pythonFile } from '../../scripts/python-environment.ts';
import { EXPORT_TABLE_IDS } from '../../src/shared/records/export-tables.ts';
import { TemporaryStore } from '../harness/temporary-store.ts';
import { asText, parquetRows, partsOf } from '../unit/export/exported.ts';
import { bucketSums, utilisation } from '../unit/export/measure-records.ts';
import { readEvents } from '../unit/export/event-records.ts';
import {
  entries,
  sampleSpec,
  switchRecord,
  wholeRun,
} from '../unit/main/sample-records.ts';

const hasReaders = ensurePython('readers', 'exports are not read by other programs');
const directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-exports-'));
const temporary = new TemporaryStore();
const { store } = temporary;
const whole = wholeRun(6000).map(({ record }) => record);
store.create({ id: 'r', spec: sampleSpec(), switches: [], createdAt: 1000 });
const [first, ...rest] = whole;
store.records.append(
  'r',
  entries([
    first!,
    switchRecord(40, 'none', 'topk'),
    ...bucketSums,
    ...utilisation,
    ...rest,
  ]),
);
afterAll(() => {
  temporary.close();
  rmSync(directory, { recursive: true });
});

function python(program: string, ...given: readonly string[]): unknown {
  const { stderr, stdout, status } = spawnSync(pythonFile, ['-c', program, ...given], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout);
}

const PARQUET = `
import json, sys, pyarrow.parquet as parquet
file = parquet.ParquetFile(sys.argv[1])
file.read().validate(full=True)
print(json.dumps({
    "groups": file.num_row_groups,
    "types": {field.name: str(field.type) for field in file.schema_arrow},
    "rows": file.read().to_pylist(),
}))`;

test.skipIf(!hasReaders).each(EXPORT_TABLE_IDS)(
  'pyarrow reads the table of %s',
  async (table) => {
    const file = path.join(directory, `${table}.parquet`);
    const parts = await partsOf(store, 'r', { format: 'parquet', table });
    writeFileSync(file, Buffer.concat(parts));
    const read = python(PARQUET, file) as {
      groups: number;
      types: Record<string, string>;
      rows: Record<string, unknown>[];
    };
    const { rows } = await parquetRows(store, 'r', table);
    expect(read.rows.map(asText)).toEqual(rows.map(asText));
    expect(read.types['iteration'] ?? read.types['from_iteration']).toBe('int64');
    expect(read.groups).toBe(table === 'iterations' ? 2 : 1);
  },
);

const EVENTS = `
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0, "tensors": 0})
events.Reload()
tags = events.Tags()
print(json.dumps({
    "scalars": {tag: [[e.step, e.wall_time, e.value] for e in events.Scalars(tag)]
                for tag in tags["scalars"]},
    "texts": {tag: [[e.step, e.tensor_proto.string_val[0].decode()] for e in events.Tensors(tag)]
              for tag in tags["tensors"]},
}))`;

test.skipIf(!hasReaders)('TensorBoard reads every event', async () => {
  const file = Buffer.concat(await partsOf(store, 'r', { format: 'tensorboard' }));
  writeFileSync(path.join(directory, 'events.out.tfevents.gradwire-r'), file);
  const read = python(EVENTS, directory) as {
    scalars: Record<string, [number, number, number][]>;
    texts: Record<string, [number, string][]>;
  };
  const scalars: Record<string, [number, number, number][]> = {};
  for (const { scalars: values, step, wallTime } of readEvents(file)) {
    for (const [tag, value] of Object.entries(values)) {
      (scalars[tag] ??= []).push([step, wallTime, value]);
    }
  }
  expect(read.scalars).toEqual(scalars);
  expect(read.scalars['training/loss']).toHaveLength(6000);
  expect(read.texts['switches']).toEqual([[40, expect.stringContaining('topk')]]);
});
