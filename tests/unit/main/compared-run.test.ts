/**
 * Runs as comparisons read them from the store. The oracle adds up the records themselves: short
 * runs have the same costs to the last digits, long ones to a part of a bin.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readComparedRun } from '../../../src/main/compare/read-run.ts';
import {
  costAfter,
  CURVE_BINS,
  type ComparedRun,
} from '../../../src/shared/comparison/compared-run.ts';
import { compareRuns } from '../../../src/shared/comparison/comparison.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';
import { generator } from '../../integration/collectives/run-collective.ts';
import {
  done,
  entries,
  iterationRecord,
  sampleSpec,
  started,
  switchRecord,
} from './sample-records.ts';

const RANKS = 2;
const SHORT = 60;
const LONG = 3000;
const temporary = new TemporaryStore();
afterAll(() => temporary.close());
const { store } = temporary;
const random = generator(3);

function noisy(iteration: number, rank: number): IterationRecord {
  const record = iterationRecord(iteration, rank);
  const wall = 2 + Math.round(random() * 1e6) / 1e6;
  return {
    ...record,
    wall,
    phases: { ...record.phases, compute: wall - 1.5 },
    loss: 3 / (1 + iteration) + random(),
    bytes: { ...record.bytes, wireSent: Math.round(1000 * random()) },
  };
}

/** Accuracy after a number of iterations; none of every third evaluation. */
const accuracy = (iterations: number): number | undefined =>
  iterations % 30 === 0 ? undefined : iterations / LONG;

function record(id: string, iterations: number, more: readonly RunRecord[] = []) {
  const spec = sampleSpec({ world: { ranks: RANKS }, iterations });
  store.create({ id, spec, switches: [], createdAt: 1 });
  const all: IterationRecord[] = [];
  const records: RunRecord[] = [{ ...started, iterationsPerPass: 20 } as RunRecord];
  for (let iteration = 0; iteration < iterations; iteration++) {
    for (let rank = 0; rank < RANKS; rank++) all.push(noisy(iteration, rank));
    records.push(...all.slice(-RANKS));
    if (iteration % 10 !== 9) continue;
    const metric = accuracy(iteration + 1);
    records.push({
      type: 'evaluation',
      iteration,
      at: 1,
      samples: 1,
      wall: 500,
      ...(metric === undefined ? {} : { metric }),
    });
  }
  store.records.append(id, entries([...records, ...more]));
  return all;
}

/** The mean over ranks, summed over the first iterations. */
function summed(
  records: readonly IterationRecord[],
  value: (record: IterationRecord) => number,
  iterations: number,
): number {
  let sum = 0;
  for (const one of records) if (one.iteration < iterations) sum += value(one) / RANKS;
  return sum;
}

const wall = (one: IterationRecord): number => one.wall;
const sent = (one: IterationRecord): number => one.bytes.wireSent!;

let short: readonly IterationRecord[];
let long: readonly IterationRecord[];
let ofShort: ComparedRun;
let ofLong: ComparedRun;

beforeAll(() => {
  short = record('short', SHORT, [done]);
  long = record('long', LONG, [switchRecord(50, 'none', 'topk'), done]);
  [ofShort, ofLong] = [readComparedRun(store, 'short'), readComparedRun(store, 'long')];
});

describe('a run to compare', () => {
  it('has the costs of its records, as long as an iteration is a bin', () => {
    const { curve } = ofShort;
    expect(curve).toMatchObject({ width: 1, ends: { length: SHORT } });
    for (const iterations of [1, 7, 30, SHORT]) {
      expect(costAfter(curve, curve.time, iterations)).toBeCloseTo(
        summed(short, wall, iterations),
        6,
      );
      expect(costAfter(curve, curve.bytes!, iterations)).toBeCloseTo(
        summed(short, sent, iterations),
        6,
      );
    }
    expect(costAfter(curve, curve.time, 0)).toBe(0);
    expect(costAfter(curve, curve.time, SHORT + 1)).toBeUndefined();
    expect(curve.loss[5]).toBeCloseTo(
      short
        .filter(({ iteration }) => iteration === 5)
        .reduce((sum, { loss }) => sum + loss! / RANKS, 0),
      12,
    );
  });

  it('of any length has few bins, whose ends are exact', () => {
    const { curve } = ofLong;
    expect(curve.ends.length).toBeLessThanOrEqual(CURVE_BINS);
    expect([curve.width, curve.ends.at(-1)]).toEqual([8, LONG]);
    for (const iterations of [8, 1600, LONG]) {
      expect(costAfter(curve, curve.time, iterations)).toBeCloseTo(
        summed(long, wall, iterations),
        5,
      );
    }
    const between = costAfter(curve, curve.time, 1604)!;
    const exact = summed(long, wall, 1604);
    expect(Math.abs(between - exact)).toBeLessThan(curve.width * 1);
    expect(between).not.toBeCloseTo(exact, 6);
  });

  it('has the mean step of all its records, and what it is made of', () => {
    const { step } = ofLong;
    expect(step!.wall).toBeCloseTo(summed(long, wall, LONG) / LONG, 8);
    expect(step!.sent).toBeCloseTo(summed(long, sent, LONG) / LONG, 6);
    expect(step!.phases.wait).toBeCloseTo(1, 9);
    expect(ofLong.switches).toEqual([
      '50: none over ring → topk over sparse-allgather',
    ]);
    expect(ofLong).toMatchObject({ iterationsPerPass: 20, backend: 'wasm' });
  });

  it('reaches a target at the first evaluation that has it, without the evaluations’ time', () => {
    // 0.01 is first seen after 30 iterations, which have no accuracy.
    const { runs } = compareRuns([ofLong], { target: 0.01 });
    expect(runs[0]!.outcome).toMatchObject({
      kind: 'reached',
      costs: { iterations: 40, passes: 2 },
      value: 40 / LONG,
    });
    const { outcome } = compareRuns([ofShort], { target: 0.01 }).runs[0]!;
    expect(outcome.kind === 'reached' && outcome.costs.time).toBeCloseTo(
      summed(short, wall, 40),
      6,
    );
  });

  it('may be one that has not begun, or whose bytes nobody counted', () => {
    store.create({ id: 'new', spec: sampleSpec(), switches: [], createdAt: 1 });
    expect(readComparedRun(store, 'new')).toMatchObject({
      state: 'starting',
      curve: { ends: [], time: [] },
      observations: [],
    });
    const spec = sampleSpec({ iterations: 3 });
    store.create({ id: 'observed', spec, switches: [], createdAt: 1 });
    const uncounted = [0, 1, 2].flatMap((iteration) =>
      [0, 1].map((rank) => {
        const { bytes, ...rest } = iterationRecord(iteration, rank);
        return { ...rest, bytes: { dense: bytes.dense, payload: bytes.payload } };
      }),
    );
    store.records.append('observed', entries([started, ...uncounted]));
    const { curve, step } = readComparedRun(store, 'observed');
    expect([curve.ends, curve.bytes, step!.sent]).toEqual([
      [1, 2, 3],
      undefined,
      undefined,
    ]);
  });

  it('of an asynchronous run has the time of iterations that overlap', () => {
    const parallelism = {
      kind: 'asynchronous',
      trainerThreads: 4,
      staleness: 3,
    } as const;
    const spec = sampleSpec({ iterations: 8, parallelism });
    store.create({ id: 'overlapping', spec, switches: [], createdAt: 1 });
    const all = Array.from({ length: 8 }, (_, iteration) =>
      [0, 1].map((rank) => iterationRecord(iteration, rank)),
    ).flat();
    store.records.append('overlapping', entries([started, ...all]));
    const { curve, step } = readComparedRun(store, 'overlapping');
    expect([curve.time.at(-1), step!.wall]).toEqual([(8 * 3.5) / 4, 3.5]);
  });

  it('counts iterations without records as those before them', () => {
    const spec = sampleSpec({ iterations: 8 });
    store.create({ id: 'thinned', spec, switches: [], createdAt: 1 });
    const kept = [0, 1, 6, 7].flatMap((iteration) =>
      [0, 1].map((rank) => iterationRecord(iteration, rank)),
    );
    store.records.append('thinned', entries([started, ...kept]));
    const { curve } = readComparedRun(store, 'thinned');
    expect(curve.ends).toEqual([1, 2, 6, 7, 8]);
    expect(curve.time).toEqual([3.5, 7, 21, 24.5, 28]);
    expect(curve.loss[2]).toBeNull();
  });

  it('has diverged if its loss was not finite', () => {
    const failed: RunRecord = {
      type: 'failed',
      at: 5,
      error: { code: 'LOSS_NOT_FINITE', kind: 'failure', message: 'NaN' },
    };
    record('diverged', 10, [failed]);
    const run = readComparedRun(store, 'diverged');
    expect(run).toMatchObject({ state: 'failed', isDiverged: true });
    expect(ofShort.isDiverged).toBe(false);
    expect(compareRuns([run], { target: 0.9 }).runs[0]!.outcome.kind).toBe('missed');
  });
});
