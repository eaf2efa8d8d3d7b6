/**
 * Traces of iterations, from real ranks. Their spans must say what the iterations' records say, which
 * sums of the same clock do by another way; and their messages what the ledger counted.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applySettings } from '../../../src/main/spec/settings.ts';
import { loadSpecSource } from '../../../src/main/spec/spec-source.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import { BUCKET_PHASES } from '../../../src/shared/records/bucket-sums.ts';
import { PHASES } from '../../../src/shared/records/phases.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import type { TraceRecord } from '../../../src/shared/records/trace.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import { arrowsOf, baseOf } from '../../../src/shared/trace/message-arrows.ts';
import { clockOffsets } from '../../../src/shared/trace/clock-offsets.ts';
import { effort } from '../../harness/effort.ts';
import { ofType } from '../../harness/records.ts';
import { endOf, SupervisorNode } from './supervisor-node.ts';

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

const recordOf = (
  iterations: readonly IterationRecord[],
  { iteration, rank }: TraceRecord,
): IterationRecord =>
  iterations.find((one) => one.iteration === iteration && one.rank === rank)!;

/** Milliseconds of a phase in spans that were not hidden. */
const timeIn = ({ spans }: TraceRecord, phase: string): number =>
  spans
    .filter(([, name, , , , , hidden]) => name === phase && hidden === 0)
    .reduce((sum, [, , , , , duration]) => sum + duration / 1e6, 0);

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
      expect(traces.length).toBeGreaterThan(0);
      for (const one of traces) {
        const { phases, wall } = recordOf(iterations, one);
        expect(one.dropped).toBeUndefined();
        for (const phase of PHASES) {
          if (phase === 'other') continue;
          const recorded = phases[phase] ?? 0;
          // Times are stored in nanoseconds, of which each span's ends are rounded.
          const rounding = one.spans.length * 1e-6;
          expect(
            Math.abs(timeIn(one, phase) - recorded),
            `${phase} of rank ${one.rank} in ${one.iteration}`,
          ).toBeLessThanOrEqual(0.01 * recorded + rounding);
        }
        expect(Math.abs(one.wall / 1e6 - wall)).toBeLessThan(
          settings.includes('doubleBuffer=true') ? Infinity : 0.01 * wall,
        );
      }
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
      for (const { spans, threads } of traces) {
        for (const thread of threads.keys()) {
          const own = spans
            .filter(([on]) => on === thread)
            .map(([, , , , start, duration]) => [start, start + duration] as const)
            .toSorted(([a], [b]) => a - b);
          for (const [index, [start]] of own.entries()) {
            if (index > 0) expect(start).toBeGreaterThanOrEqual(own[index - 1]![1] - 2);
          }
        }
      }
    });

    test('messages carry the bytes that the sockets counted, and none arrives before it is sent', () => {
      for (const one of traces) {
        const { bytes } = recordOf(iterations, one);
        const sent = one.messages.filter(([received]) => received === 0);
        const sum = sent.reduce((total, [, , , , , size]) => total + size, 0);
        expect(sum).toBe((bytes.wireSent ?? 0) - (bytes.framingSent ?? 0));
      }
      const base = baseOf(traces);
      const arrows = arrowsOf(traces, base);
      const all = traces.flatMap(({ messages }) => messages);
      expect(arrows).toHaveLength(all.filter(([received]) => received === 0).length);
      const ranks = [...new Set(traces.map(({ rank }) => rank))];
      const offsets = clockOffsets(ranks, arrows);
      for (const { from, received, sent, to } of arrows) {
        const time =
          received - offsets.get(to)!.offset - sent + offsets.get(from)!.offset;
        expect(time).toBeGreaterThanOrEqual(-1);
      }
      for (const rank of ranks) {
        expect(Number.isFinite(offsets.get(rank)!.uncertainty)).toBe(true);
      }
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
