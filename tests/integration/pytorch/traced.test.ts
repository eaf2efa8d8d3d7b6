/**
 * Traces of a PyTorch program whose gradients Gradwire averages: its own phases on a lane beside the
 * engine's, by one clock, adding up to what the iterations' records say.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import type { TraceRecord } from '../../../src/shared/records/trace.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import { chromeTrace } from '../../../src/shared/trace/chrome-trace.ts';
import { criticalPaths } from '../../../src/renderer/charts/timeline/critical-path.ts';
import { timelineOf } from '../../../src/shared/trace/timeline.ts';
import { crossings, readChromeTrace } from '../../harness/chrome-trace-reader.ts';
import { effort } from '../../harness/effort.ts';
import { pytorch } from '../../harness/python.ts';
import { ofType } from '../../harness/records.ts';
import { endOf, SupervisorNode } from '../runs/supervisor-node.ts';
import { expectLanes, expectMessages, expectPhases } from '../runs/trace-checks.ts';
import { joined } from './programs.ts';

const TRACED = 3;
const STEPS = 8;

/** Messages on their way while the backward pass goes on; or all of the gradient at once. */
const KINDS: readonly (readonly [string, object])[] = [
  ['exchanged in its backward pass', { exchange: { bucketBytes: 4000 } }],
  ['clipped, so exchanged after it', { optimizer: { clipNorm: 1, clipAt: 'rank' } }],
];

let node: SupervisorNode | undefined;
beforeAll(async () => {
  if (pytorch !== undefined) node = await SupervisorNode.start();
});
afterAll(() => node?.[Symbol.asyncDispose]());

describe
  .skipIf(pytorch === undefined)
  .each(KINDS.slice(0, effort({ quick: 1, soak: KINDS.length })))(
  'a program’s gradient %s',
  (name, settings) => {
    const run = name.replaceAll(/[^a-z]/g, '-');
    let records: readonly RunRecord[];
    let traces: readonly TraceRecord[];
    let iterations: readonly IterationRecord[];

    beforeAll(async () => {
      const command = [pytorch!, joined, String(STEPS)];
      const spec = { workload: { command }, world: { ranks: 2 }, ...settings };
      const { begin, entries } = await node!.prepare(run, parseExperimentSpec(spec));
      // Before the ranks are connected, so that the second step is the first traced.
      await node!.connection.request('trace', { run, iterations: TRACED });
      await begin();
      expect(await endOf(entries)).toMatchObject({ type: 'done', consistent: true });
      records = entries.map(({ record }) => record);
      traces = ofType(records, 'trace');
      iterations = ofType(records, 'iteration');
    });

    test('is traced on both ranks, as long as was ordered', () => {
      expect(iterations).toHaveLength(2 * STEPS);
      for (const rank of [0, 1]) {
        const own = traces.filter((one) => one.rank === rank);
        expect(own.map(({ iteration }) => iteration)).toEqual([1, 2, 3]);
      }
      const told = ofType(records, 'notice').filter(({ code }) => code === 'TRACED');
      expect(told.map(({ message }) => message)).toEqual(['traced iterations 1 to 3']);
    });

    test('has spans of its passes that add up to the record’s phases', () => {
      expectPhases(traces, iterations, true);
      expectLanes(traces);
      for (const { spans, threads } of traces) {
        expect(threads).toEqual(['program', 'engine']);
        const own = new Set(spans.flatMap(([on, phase]) => (on === 0 ? [phase] : [])));
        expect(own).toEqual(new Set(['data', 'forward', 'backward', 'apply']));
      }
    });

    test('has them by the engine’s clock: the exchange ends before the optimiser’s step', () => {
      for (const { messages, spans, wall } of traces) {
        const ends = (on: number) =>
          spans.filter(([of]) => of === on).map(([, , , , at, time]) => at + time);
        const begins = (phase: string) =>
          spans.filter(([, of]) => of === phase).map(([, , , , at]) => at);
        expect(Math.max(...ends(1))).toBeLessThanOrEqual(Math.min(...begins('apply')));
        // What is sent was computed, so nothing leaves before the backward pass begins.
        const sent = messages.filter(([received]) => received === 0);
        const sending = sent.map(([, , bucket, , , , at]) => [bucket, at] as const);
        for (const [bucket, at] of sending) {
          if (bucket >= 0) expect(at).toBeGreaterThan(Math.min(...begins('backward')));
        }
        // A moment is stored in steps of 0.24 µs.
        expect(Math.max(...ends(0), ...ends(1))).toBeLessThanOrEqual(wall + 500);
      }
    });

    test('has messages that none receives before it is sent', () => {
      expectMessages(traces, iterations);
    });

    test('is explained by a critical path through program and engine', () => {
      const timeline = timelineOf(traces);
      const paths = criticalPaths(timeline);
      expect(paths.map(({ iteration }) => iteration)).toEqual([1, 2, 3]);
      for (const { parts } of paths) {
        const lanes = parts.flatMap(({ lane }) => timeline.lanes[lane] ?? []);
        const threads = new Set(lanes.map(({ thread }) => thread));
        expect(threads).toEqual(new Set(['program', 'engine']));
      }
    });

    test('is written as a file that another reader understands', () => {
      const text = [...chromeTrace(traces, run)].join('');
      const { flows, processes, slices, threads } = readChromeTrace(text);
      expect([...processes.values()]).toEqual(['rank 0', 'rank 1']);
      expect([threads.get('0/0'), threads.get('1/1')]).toEqual(['program', 'engine']);
      expect(crossings(slices, 0.01)).toEqual([]);
      const spans = traces.reduce((sum, one) => sum + one.spans.length, 0);
      expect(slices).toHaveLength(spans + traces.length);
      expect(flows.length).toBeGreaterThan(0);
      for (const { from, to } of flows) expect(to.at).toBeGreaterThanOrEqual(from.at);
    });
  },
);
