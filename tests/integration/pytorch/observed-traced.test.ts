/**
 * Traces of a PyTorch program that averages by itself and is only observed: its passes and its averages,
 * adding up to what the iterations' records say, and the rank that the others wait for.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { median } from '../../../src/shared/numbers/quantile.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import type { TraceRecord } from '../../../src/shared/records/trace.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import { chromeTrace } from '../../../src/shared/trace/chrome-trace.ts';
import { criticalPaths } from '../../../src/renderer/charts/timeline/critical-path.ts';
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

interface Traced {
  readonly from: number;
  readonly records: readonly RunRecord[];
  readonly traces: readonly TraceRecord[];
  readonly iterations: readonly IterationRecord[];
}

let node: SupervisorNode;
beforeAll(async () => {
  if (pytorch !== undefined) node = await SupervisorNode.start();
});
afterAll(() => node?.[Symbol.asyncDispose]());

/** A run that is traced once its first step is told. */
async function traced(run: string, ...args: readonly string[]): Promise<Traced> {
  const command = [pytorch!, straggling, '80', String(DELAY), ...args];
  const spec = parseExperimentSpec({
    workload: { command, observe: true },
    world: { ranks: 2 },
  });
  const { begin, entries } = await node.prepare(run, spec);
  await begin();
  await until(
    () => entries.some(({ record }) => record.type === 'iteration'),
    Boolean,
    'a step',
  );
  const order = { run, iterations: TRACED };
  const answer = await node.connection.request('trace', order);
  expect(await endOf(entries)).toMatchObject({ type: 'done', reason: 'completed' });
  const records = entries.map(({ record }) => record);
  return {
    from: answer.from!,
    records,
    traces: ofType(records, 'trace'),
    iterations: ofType(records, 'iteration'),
  };
}

/** Seconds of a thread on the critical path of each iteration. */
function onPath(traces: readonly TraceRecord[], rank: number): readonly number[] {
  const timeline = timelineOf(traces);
  return criticalPaths(timeline).map(({ parts }) =>
    parts
      .filter((part) => part.rank === rank)
      .filter(({ lane }) => timeline.lanes[lane]?.thread === 'program')
      .reduce((sum, part) => sum + (part.to - part.from) / 1e9, 0),
  );
}

describe.skipIf(pytorch === undefined)('a program that is only observed', () => {
  let records: Traced['records'];
  let traces: Traced['traces'];
  let iterations: Traced['iterations'];
  let from: number;
  beforeAll(async () => {
    ({ from, iterations, records, traces } = await traced(RUN));
  });

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
    const slow = onPath(traces, 1);
    expect(slow).toHaveLength(TRACED);
    expect(median(slow)!).toBeGreaterThan(0.9 * DELAY);
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

test.skipIf(pytorch === undefined)(
  'what all take from rank 0 before a pass is waited for, and is none of it',
  async () => {
    const { iterations, traces } = await traced('observed-buffers', 'norm');
    expectPhases(traces, iterations, true);
    expectLanes(traces);
    expectForward(traces);
    // Where the machine is busy, another step may be late for another reason.
    expect(median(onPath(traces, 0))!).toBeGreaterThan(0.9 * DELAY);
    const waits = iterations
      .filter(({ rank }) => rank === 1)
      .map(({ phases }) => phases.wait / 1e3);
    expect(median(waits)!).toBeGreaterThan(0.9 * DELAY);
  },
);
