/**
 * Traces of a PyTorch program that averages by itself and is only observed: its passes and its averages,
 * adding up to what the iterations' records say, and the rank that the others wait for.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import type { TraceRecord } from '../../../src/shared/records/trace.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import { chromeTrace } from '../../../src/shared/trace/chrome-trace.ts';
import { criticalPaths } from '../../../src/shared/trace/critical-path.ts';
import { timelineOf } from '../../../src/shared/trace/timeline.ts';
import { crossings, readChromeTrace } from '../../harness/chrome-trace-reader.ts';
import { until } from '../../harness/processes.ts';
import { pytorch } from '../../harness/python.ts';
import { ofType } from '../../harness/records.ts';
import { endOf, SupervisorNode } from '../runs/supervisor-node.ts';
import { expectForward, expectLanes, expectPhases } from '../runs/trace-checks.ts';
import { straggling } from './programs.ts';

const RUN = 'observed-traced';
const TRACED = 5;
const DELAY = 0.05;

describe.skipIf(pytorch === undefined)('a program that is only observed', () => {
  let node: SupervisorNode;
  let records: readonly RunRecord[];
  let traces: readonly TraceRecord[];
  let iterations: readonly IterationRecord[];
  let from: number;

  beforeAll(async () => {
    node = await SupervisorNode.start();
    const command = [pytorch!, straggling, '80', String(DELAY)];
    const spec = parseExperimentSpec({
      workload: { command, observe: true },
      world: { ranks: 2 },
    });
    const { begin, entries } = await node.prepare(RUN, spec);
    await begin();
    await until(
      () => entries.some(({ record }) => record.type === 'iteration'),
      Boolean,
      'a step',
    );
    const order = { run: RUN, iterations: TRACED };
    const answer = await node.connection.request('trace', order);
    from = answer.from!;
    expect(await endOf(entries)).toMatchObject({ type: 'done', reason: 'completed' });
    records = entries.map(({ record }) => record);
    traces = ofType(records, 'trace');
    iterations = ofType(records, 'iteration');
  });
  afterAll(() => node?.[Symbol.asyncDispose]());

  test('is traced on both ranks, in the steps that the machine has chosen', () => {
    const expected = Array.from({ length: TRACED }, (_, i) => from + i);
    for (const rank of [0, 1]) {
      const own = traces.filter((one) => one.rank === rank);
      expect(own.map(({ iteration }) => iteration)).toEqual(expected);
    }
    const told = ofType(records, 'notice').filter(({ code }) => code === 'TRACED');
    expect(told.map(({ message }) => message)).toEqual([
      `traced iterations ${from} to ${from + TRACED - 1}`,
    ]);
  });

  test('has spans of its passes and averages that add up to the record’s phases', () => {
    expectPhases(traces, iterations, true);
    expectLanes(traces);
    for (const { buckets, spans, threads } of traces) {
      expect(threads).toEqual(['program', 'network']);
      const own = new Set(spans.flatMap(([on, phase]) => (on === 0 ? [phase] : [])));
      expect(own).toEqual(new Set(['data', 'forward', 'backward', 'apply']));
      const sums = spans.filter(([on]) => on === 1);
      const places = new Set(sums.map(([, , bucket]) => bucket));
      expect(places.size).toBeGreaterThan(1);
      for (const place of places) expect(buckets[place]).toMatch(/weight|bias/);
    }
    for (const one of traces) {
      const { overlapped } = iterations.find(
        ({ iteration, rank }) => iteration === one.iteration && rank === one.rank,
      )!;
      const hidden = one.spans
        .filter(([, , , , , , isHidden]) => isHidden === 1)
        .reduce((sum, [, , , , , time]) => sum + time / 1e6, 0);
      expect(Math.abs(hidden - overlapped)).toBeLessThan(0.01 * overlapped + 0.001);
    }
  });

  test('has an arrow for each rank and average, none of which goes back in time', () => {
    const arrows = expectForward(traces);
    const sums = traces.flatMap(({ spans }) =>
      spans.filter(([on, , , , , , hidden]) => on === 1 && hidden === 0),
    );
    expect(sums.length).toBeGreaterThan(0);
    expect(arrows).toBeGreaterThanOrEqual(2 * TRACED);
  });

  test('is explained by a path over the rank that is slow', () => {
    const timeline = timelineOf(traces);
    const paths = criticalPaths(timeline);
    expect(paths).toHaveLength(TRACED);
    for (const { parts } of paths) {
      const slow = parts
        .filter(
          ({ lane, rank }) => rank === 1 && timeline.lanes[lane]?.thread === 'program',
        )
        .reduce((sum, part) => sum + part.to - part.from, 0);
      expect(slow / 1e9).toBeGreaterThan(0.9 * DELAY);
    }
  });

  test('is written as a file that another reader understands', () => {
    const { flows, processes, slices, threads } = readChromeTrace(
      [...chromeTrace(traces, RUN)].join(''),
    );
    expect([...processes.values()]).toEqual(['rank 0', 'rank 1']);
    expect([threads.get('0/0'), threads.get('1/1')]).toEqual(['program', 'network']);
    expect(crossings(slices, 0.01)).toEqual([]);
    expect(flows.length).toBeGreaterThan(0);
  });
});
