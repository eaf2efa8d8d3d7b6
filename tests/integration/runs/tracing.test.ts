/**
 * Traces of iterations, from real ranks. Their spans must say what the iterations' records say, which
 * sums of the same clock do by another way; and their messages what the ledger counted.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applySettings } from '../../../src/main/spec/settings.ts';
import { loadSpecSource } from '../../../src/main/spec/spec-source.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import { BUCKET_PHASES } from '../../../src/shared/records/bucket-sums.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import type { TraceRecord } from '../../../src/shared/records/trace.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import { effort } from '../../harness/effort.ts';
import { ofType } from '../../harness/records.ts';
import { endOf, SupervisorNode } from './supervisor-node.ts';
import { expectLanes, expectMessages, expectPhases } from './trace-checks.ts';

const TRACED = 4;
const ITERATIONS = 9;

let node: SupervisorNode;
beforeAll(async () => {
  node = await SupervisorNode.start();
});
afterAll(() => node[Symbol.asyncDispose]());

async function specOf(settings: readonly string[]) {
  const { raw } = await loadSpecSource('quickstart');
  return parseExperimentSpec(
    applySettings(raw, [
      ...['backend=wasm', `iterations=${ITERATIONS}`, 'evaluateEvery=0'],
      ...['exchange.bucketBytes=2000', ...settings],
    ]),
  );
}

/** The order comes before the ranks are connected, so the second exchange is the first traced. */
async function trace(
  run: string,
  settings: readonly string[],
): Promise<readonly RunRecord[]> {
  const { begin, entries } = await node.prepare(run, await specOf(settings));
  await node.connection.request('trace', { run, iterations: TRACED });
  await begin();
  const last = await endOf(entries);
  expect(last).toMatchObject({ type: 'done', consistent: true });
  return entries.map(({ record }) => record);
}

const KINDS: readonly (readonly [string, readonly string[], number])[] = [
  ['two threads, three ranks', ['world.ranks=3', 'engine=thread'], 1],
  ['overlap', ['world.ranks=2', 'engine=thread', 'overlap=true'], 1],
  [
    'local-steps',
    ['world.ranks=2', 'parallelism.kind=local-steps', 'parallelism.every=2'],
    2,
  ],
  ['one thread', ['world.ranks=2', 'engine=inline', 'exchange.method=topk'], 1],
  ['doubleBuffer', ['world.ranks=2', 'engine=thread', 'doubleBuffer=true'], 1],
];

describe.each(KINDS.slice(0, effort({ quick: 3, soak: KINDS.length })))(
  '%s',
  (name, settings, first) => {
    const run = name.replaceAll(/[^a-zA-Z]/g, '-').toLowerCase();
    let records: readonly RunRecord[];
    let traces: readonly TraceRecord[];
    let iterations: readonly IterationRecord[];
    beforeAll(async () => {
      records = await trace(run, settings);
      traces = ofType(records, 'trace');
      iterations = ofType(records, 'iteration');
    });

    test('all ranks trace the same iterations, and say when it is over', () => {
      const ranks = new Set(iterations.map(({ rank }) => rank));
      for (const rank of ranks) {
        const traced = traces.filter((one) => one.rank === rank);
        expect(traced.map(({ iteration }) => iteration)).toEqual(
          Array.from({ length: TRACED }, (_, i) => first + i),
        );
      }
      const notices = ofType(records, 'notice').filter(({ code }) => code === 'TRACED');
      expect(notices.map(({ message }) => message)).toEqual([
        `traced iterations ${first} to ${first + TRACED - 1}`,
      ]);
    });

    test('spans add up to the phases of the record within 1 %', () => {
      expectPhases(traces, iterations, !settings.includes('doubleBuffer=true'));
    });

    test('sums of buckets are those of their spans, and of what was sent', () => {
      const sums = ofType(records, 'bucket-sums');
      const isTraced = ({ from, to }: (typeof sums)[number]): boolean =>
        from >= first && to <= first + TRACED;
      const compared = sums.filter(isTraced);
      expect(compared.length).toBeGreaterThan(0);
      for (const { buckets, from, rank, to } of compared) {
        const spans = traces
          .filter(
            (one) => one.rank === rank && one.iteration >= from && one.iteration < to,
          )
          .flatMap((one) => one.spans);
        for (const [index, bucket] of buckets.entries()) {
          for (const phase of [...BUCKET_PHASES, 'hidden'] as const) {
            const expected = spans
              .filter(([, name, of, , , , hidden]) =>
                of !== index
                  ? false
                  : phase === 'hidden'
                    ? hidden
                    : name === phase && !hidden,
              )
              .reduce((total, [, , , , , duration]) => total + duration / 1e6, 0);
            const rounding = 0.001 + spans.length * 1e-6;
            const what = `${phase} of ${bucket.name} on rank ${rank} in ${from} to ${to}`;
            expect(Math.abs((bucket[phase] ?? 0) - expected), what).toBeLessThan(
              rounding,
            );
          }
          expect(bucket.end).toBeGreaterThanOrEqual(bucket.begin);
        }
      }
      // All exchanges are in one interval of each rank.
      const of = (rank: number) => iterations.filter((one) => one.rank === rank);
      for (const rank of new Set(iterations.map((one) => one.rank))) {
        const buckets = sums
          .filter((one) => one.rank === rank)
          .flatMap((one) => one.buckets);
        const payload = buckets.reduce((total, one) => total + one.payload!, 0);
        const sent = buckets.reduce((total, one) => total + one.sent!, 0);
        const bytes = of(rank).map((one) => one.bytes);
        expect(payload).toBe(bytes.reduce((total, one) => total + one.payload!, 0));
        expect(sent).toBeLessThanOrEqual(
          bytes.reduce((total, one) => total + one.wireSent! - one.framingSent!, 0),
        );
        expect(sent).toBeGreaterThan(0);
      }
    });

    test('spans of a thread follow each other', () => {
      expectLanes(traces);
    });

    test('messages carry the bytes that the sockets counted, and none arrives before it is sent', () => {
      expectMessages(traces, iterations);
    });
  },
);

test('each bucket has spans of its own', { tags: 'soak' }, async () => {
  const traces = ofType(
    await trace('buckets', ['world.ranks=2', 'exchange.method=topk']),
    'trace',
  );
  for (const { buckets, spans } of traces) {
    expect(buckets.length).toBeGreaterThan(2);
    for (const phase of ['compress', 'reduce', 'decompress']) {
      const seen = new Set(
        spans.filter(([, name]) => name === phase).map(([, , b]) => b),
      );
      for (const bucket of buckets.keys()) expect(seen, phase).toContain(bucket);
    }
  }
});

test('what has no timeline of its own is refused', async () => {
  const run = 'asynchronous';
  const spec = await specOf(['world.ranks=2', 'parallelism.kind=asynchronous']);
  const { begin, entries } = await node.prepare(run, spec);
  await expect(
    node.connection.request('trace', { run, iterations: 3 }),
  ).rejects.toMatchObject({ code: 'TRACE_UNSUPPORTED', kind: 'input' });
  await expect(
    node.connection.request('trace', { run, iterations: 0 }),
  ).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
  await begin();
  await endOf(entries);
  await expect(
    node.connection.request('trace', { run, iterations: 3 }),
  ).rejects.toMatchObject({ kind: 'input' });
});
