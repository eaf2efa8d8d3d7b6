import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { exportPiece, exportRun } from '../../../src/main/store/run-export.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import { PHASES } from '../../../src/shared/records/phases.ts';
import {
  evaluationRecordSchema,
  type EvaluationRecord,
} from '../../../src/shared/records/evaluation.ts';
import {
  iterationRecordSchema,
  type IterationRecord,
} from '../../../src/shared/records/iteration.ts';
import type { LogRecord } from '../../../src/shared/records/log.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import type { ExportPlace } from '../../../src/shared/rpc/run-pieces.ts';
import { bucketSums } from '../export/measure-records.ts';
import {
  entries,
  iterationRecord,
  sampleSpec,
  started,
  wholeRun,
} from './sample-records.ts';

const ITERATIONS = 1200; // more rows than a page of the store
const directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-export-'));
const store = RunStore.open(path.join(directory, 'gradwire.db'));

const printed: LogRecord = {
  type: 'log',
  at: 5,
  rank: 1,
  stream: 'stderr',
  iteration: 3,
  level: 'warning',
  text: 'Warning: é',
  cut: 7,
  dropped: 2,
};

beforeAll(() => {
  store.create({ id: 'r', spec: sampleSpec(), switches: [], createdAt: 1 });
  const whole = wholeRun(ITERATIONS);
  const last = whole.at(-1)!;
  const line = { sequence: last.sequence, record: printed };
  const end = { ...last, sequence: last.sequence + 1 };
  store.records.append('r', [...whole.slice(0, -1), line, end]);
});
afterAll(() => {
  store.close();
  rmSync(directory, { recursive: true });
});

const expected = Array.from({ length: ITERATIONS }, (_, n) => n).flatMap(
  (iteration) => [iterationRecord(iteration, 0), iterationRecord(iteration, 1)],
);

test('JSON holds the run, its spec, and every record exactly', () => {
  const text = [...exportRun(store, 'r', 'json')].join('');
  const { events } = store.reads.detail('r');
  expect(JSON.parse(text)).toEqual({
    run: JSON.parse(JSON.stringify(store.summary('r'))) as unknown,
    spec: sampleSpec(),
    events,
    log: [printed],
    buckets: [],
    utilisation: [],
    iterations: expected,
  });
});

test('CSV has a row per iteration and rank with every phase and byte count', () => {
  const text = [...exportRun(store, 'r', 'csv')].join('');
  const [header, ...rows] = text.trimEnd().split('\n');
  const names = header!.split(',');
  expect(rows).toHaveLength(expected.length);
  for (const [index, record] of expected.entries()) {
    const cells = rows[index]!.split(',');
    expect(cells).toHaveLength(names.length);
    const cell = (name: string): string => cells[names.indexOf(name)]!;
    expect(cell('iteration')).toBe(String(record.iteration));
    expect(cell('rank')).toBe(String(record.rank));
    for (const phase of PHASES) {
      expect(cell(`${phase}_ms`)).toBe(String(record.phases[phase]));
    }
    expect(cell('waited_for_1_ms')).toBe(record.rank === 0 ? '1' : '');
    expect(cell('wire_received_bytes')).toBe('101');
    expect(cell('framing_sent_bytes')).toBe('20');
    expect(cell('nnz_local')).toBe('10');
    expect(cell('nnz_reduced')).toBe(''); // not observed, never 0
    expect(cell('residual_norm')).toBe('');
    expect(cell('method')).toBe('topk');
    expect(cell('activations_payload_bytes')).toBe('');
    expect([cell('staleness'), cell('exchanged')]).toEqual(['0', '1']);
    expect([cell('trainer_thread'), cell('drained')]).toEqual(['', '0']);
  }
});

test('every row says what network was emulated', () => {
  const network = { bandwidth: '1 Gbit/s', latency: '50 µs' };
  const spec = { ...sampleSpec(), network };
  store.create({ id: 'slow', spec, switches: [], createdAt: 2 });
  store.records.append('slow', wholeRun(3));
  expect(store.summary('slow').emulated).toBe('emulated 1 Gbit/s, 50 µs');
  expect(store.summary('r')).not.toHaveProperty('emulated');
  const [header, ...rows] = [...exportRun(store, 'slow', 'csv')]
    .join('')
    .trim()
    .split('\n');
  expect(header).toMatch(/,emulated$/);
  expect(rows).toHaveLength(6);
  for (const row of rows) expect(row).toMatch(/,"emulated 1 Gbit\/s, 50 µs"$/);
});

test('comes in pieces, not as one text', () => {
  const pieces = [...exportRun(store, 'r', 'json')];
  expect(pieces.length).toBeGreaterThan(3);
  const longest = Math.max(...pieces.map((piece) => piece.length));
  expect(longest).toBeLessThan(pieces.join('').length / 2);
});

test('buckets of a run in progress are written once each', () => {
  const INTERVALS = 100; // more than a page of them
  store.create({ id: 'growing', spec: sampleSpec(), switches: [], createdAt: 4 });
  const of = (rank: number): readonly RunRecord[] =>
    Array.from({ length: INTERVALS }, (_, n): RunRecord => {
      return { ...bucketSums[rank]!, from: 4 * n, to: 4 * n + 4 } as RunRecord;
    });
  const [ahead, behind] = [of(0), of(1)];
  store.records.append('growing', entries([started, ...ahead]));
  const written: unknown[] = [];
  let place: ExportPlace | undefined = { part: 'buckets', from: 0, isFirst: true };
  let stored = INTERVALS + 1;
  while (place?.part === 'buckets') {
    const piece = exportPiece(store, 'growing', 'jsonl', place);
    const lines = piece.text.split('\n').filter((line) => line !== '');
    written.push(...lines.map((line) => JSON.parse(line) as unknown));
    place = piece.next;
    // A slow rank's records lie between those that have been written.
    const late = behind.slice(stored - INTERVALS - 1).slice(0, 5);
    store.records.append('growing', entries(late, stored));
    stored += late.length;
  }
  expect(written).toEqual(ahead);
});

/** Every field that a schema has, with a value that no other field has. */
function filled(schema: z.ZodType): Record<string, unknown> {
  let count = 0;
  const valueOf = (of: z.core.JSONSchema.BaseSchema, path: string): unknown => {
    if (of.const !== undefined) return of.const;
    if (of.enum !== undefined) return of.enum[0];
    switch (of.type) {
      case 'object': {
        // From ranks to times.
        if (of.properties === undefined) return { 0: ++count, 1: ++count };
        const fields = Object.entries(of.properties);
        return Object.fromEntries(
          fields.map(([name, field]) => [
            name,
            valueOf(field as z.core.JSONSchema.BaseSchema, `${path}.${name}`),
          ]),
        );
      }
      case 'array':
        return [valueOf(of.items as z.core.JSONSchema.BaseSchema, path)];
      case 'string':
        return path;
      default:
        return 1000 + ++count;
    }
  };
  const json = z.toJSONSchema(schema) as z.core.JSONSchema.BaseSchema;
  return valueOf(json, '') as Record<string, unknown>;
}

const leaves = (data: unknown): unknown[] =>
  typeof data === 'object' && data !== null
    ? Object.values(data).flatMap(leaves)
    : [data];

test('CSV has every field that the schemas of iterations and evaluations have', () => {
  const record = {
    ...(filled(iterationRecordSchema) as unknown as IterationRecord),
    rank: 0,
    iteration: 7,
  };
  const evaluation = {
    ...(filled(evaluationRecordSchema) as unknown as EvaluationRecord),
    iteration: 7,
  };
  const alone = { ...evaluation, iteration: 9, samples: 77_777 };
  store.create({ id: 'full', spec: sampleSpec(), switches: [], createdAt: 3 });
  store.records.append('full', entries([started, record, evaluation, alone]));
  const [header, row, last, ...more] = [...exportRun(store, 'full', 'csv')]
    .join('')
    .trimEnd()
    .split('\n') as [string, string, string];
  expect(more).toEqual([]);
  const { type, ...told } = record;
  expect(type).toBe('iteration');
  for (const value of leaves(told)) {
    // A flag is 1 or 0; lists are JSON.
    const text = typeof value === 'boolean' ? String(Number(value)) : String(value);
    expect(row, `${text} in ${header}`).toMatch(
      new RegExp(`[,:"]${text}[,"}\\]]|^${text},`),
    );
  }
  const { loss, metric, averaged, samples, wall } = evaluation;
  for (const value of leaves([loss, metric, averaged, samples, wall])) {
    expect(row).toContain(`,${String(value)},`);
  }
  // Where rank 0 has no row of it, it has one of its own.
  expect(last).toMatch(/^9,,/);
  expect(last).toContain(',77777,');
});
