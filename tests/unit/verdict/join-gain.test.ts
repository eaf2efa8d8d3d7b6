/**
 * The gains promised to an observed program, held against a simulation of steps whose buckets are
 * exchanged one after the other while the backward pass goes on. It shares no code with the verdict.
 */
import { describe, expect, it } from 'vitest';
import type {
  ForecastRecord,
  PredictedExchange,
} from '../../../src/shared/records/forecast.ts';
import type { Crowd } from '../../../src/shared/verdict/core-crowding.ts';
import { RecentIterations } from '../../../src/shared/verdict/recent-iterations.ts';
import { summarizeWindow } from '../../../src/shared/verdict/window-summary.ts';
import { verdict } from '../../../src/shared/verdict/verdict.ts';
import { iterationRecord } from '../renderer/records.ts';

interface Step {
  readonly forward: number;
  readonly backward: number;
  readonly wait: number;
  readonly overlapped: number;
}

const wallOf = ({ backward, forward, wait }: Step): number => forward + backward + wait;

/** Buckets of a step, each ready after its part of the backward pass; milliseconds. */
function simulated(backward: number, exchange: number, buckets: number): Step {
  const forward = backward / 2;
  let free = 0;
  let overlapped = 0;
  for (let bucket = 1; bucket <= buckets; bucket++) {
    const begin = Math.max(free, (backward * bucket) / buckets);
    free = begin + exchange / buckets;
    overlapped += Math.max(0, Math.min(free, backward) - Math.min(begin, backward));
  }
  return { forward, backward, wait: Math.max(0, free - backward), overlapped };
}

function judged(
  steps: readonly Step[],
  forecast?: ForecastRecord,
  joinedCrowd?: Crowd,
) {
  const recent = new RecentIterations(2, 64);
  for (const [iteration, { backward, forward, overlapped, wait }] of steps.entries()) {
    for (const rank of [0, 1]) {
      const record = iterationRecord({
        rank,
        iteration,
        overlapped,
        phases: { forward, backward, wait },
      });
      const { dense, payload } = record.bytes;
      recent.add({ ...record, bytes: { dense, payload } });
    }
  }
  const summary = summarizeWindow(recent, 0, steps.length)!;
  return verdict(summary, { ranks: 2, forecast, joinedCrowd })!;
}

function exchange(bandwidth: number, compress = 0): PredictedExchange {
  return {
    collective: 'ring',
    latency: 0,
    bandwidth,
    reduction: 0,
    compress,
    decompress: 0,
    payloadBytes: 1000,
    wireBytes: 1000,
  };
}

const forecast = (
  own: number,
  offered: Readonly<Record<string, readonly [exchange: number, compress: number]>>,
  copies = 0,
): ForecastRecord => ({
  type: 'forecast',
  at: 1,
  ranks: 2,
  isMeasured: true,
  copies,
  own: exchange(own),
  offered: Object.entries(offered).map(([label, [time, compress]]) => ({
    method: label,
    label,
    chosen: true,
    ...exchange(time, compress),
  })),
});

const twenty = (step: Step): readonly Step[] => new Array<Step>(20).fill(step);
const textsOf = ({ statements }: ReturnType<typeof judged>) =>
  statements.map(({ text }) => text);

describe('an observed program', () => {
  const step = { forward: 10, backward: 20, wait: 60, overlapped: 0 };

  it('is told the best method with its range, and what the others would take', () => {
    const { offers, statements } = judged(
      twenty(step),
      forecast(60, { dense: [60, 0], tenth: [6, 2], late: [1, 80] }, 4),
    );
    expect(offers.map(({ label }) => label)).toEqual(['tenth', 'dense', 'late']);
    const [best] = offers;
    expect(best!.step.mean).toBeCloseTo(30 + 6 + 2 + 4, 9);
    expect(best!.step.low).toBeCloseTo(30 + 6 * 0.8 + 6 * 0.6, 9);
    expect(best!.step.high).toBeCloseTo(30 + 6 * 1.2 + 6 * 1.4, 9);
    const told = statements.at(-1)!;
    expect(told.text).toBe(
      'joined with tenth (ring), a step would take about 42.0 ms (38.4 ms–45.6 ms) instead of 90.0 ms: 2.14× as fast',
    );
    expect(told.remedy).toMatchObject({ id: 'join', gain: { isBound: false } });
    expect(told.proof.terms.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'tenth',
        'dense',
        'late',
        'copying to Gradwire and back',
      ]),
    );
  });

  it('is told not to compress where no method gains beyond doubt', () => {
    const texts = textsOf(
      judged(twenty(step), forecast(60, { dense: [60, 0], slow: [1, 58] })),
    );
    expect(texts.at(-1)).toMatch(
      /^do not compress here: with the best of 2 methods, slow \(ring\), .* which is no clear gain$/,
    );
  });

  it('is told of the cores that the agents need where there are too few', () => {
    const crowd = { machine: 'box', ranks: 2, cores: 2 };
    const told = textsOf(
      judged(twenty(step), forecast(60, { tenth: [6, 2] }), crowd),
    ).at(-1)!;
    expect(told).toMatch(
      / as fast with cores for the agents; here 2 ranks and the agents beside them share 2$/,
    );
  });

  it('keeps of its wait what no network explains', () => {
    // Ten times the prediction are 10 of 60 ms.
    const [offer] = judged(twenty(step), forecast(1, { half: [0.5, 0] })).offers;
    expect(offer!.step.mean).toBeCloseTo(30 + 50 + 5, 9);
    expect(offer!.step.high).toBeGreaterThan(80);
    expect(offer!.step.low).toBeGreaterThanOrEqual(30);
  });

  it('has a bound alone until exchanges are predicted', () => {
    const texts = textsOf(judged(twenty(step)));
    expect(texts.at(-1)).toBe(
      'compression can speed up the step by at most 3.00×: the program waits 60.0 ms for its own communication and for slower ranks; let it join to try',
    );
    expect(judged(twenty(step)).offers).toEqual([]);
  });
});

/** Uniform numbers by a linear congruential generator. */
function* draws(seed: number): Generator<number, never> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

it('shows a step within the promised range when it joins, in 95 % of 1,000 worlds', () => {
  const uniform = draws(7);
  const between = (low: number, high: number): number =>
    low + (high - low) * uniform.next().value;
  let within = 0;
  let promised = 0;
  let kept = 0;
  for (let world = 0; world < 1000; world++) {
    const backward = between(5, 100);
    const now = backward * between(0.1, 5);
    const then = now * between(0.01, 0.6);
    const compress = backward * between(0, 0.5);
    const copies = backward * between(0, 0.1);
    const buckets = Math.ceil(between(0, 8));
    // The network is slower or faster than its constants, and compression than rehearsed.
    const [network, pace] = [between(0.5, 2), between(0.75, 1.3)];
    const steps = Array.from({ length: 20 }, () =>
      simulated(backward * between(0.98, 1.02), now, buckets),
    );
    const { offers, statements } = judged(
      steps,
      forecast(
        now / network,
        { offered: [then / network, compress / pace] },
        copies / pace,
      ),
    );
    const shown = wallOf(simulated(backward, then + compress + copies, buckets));
    const { step } = offers[0]!;
    if (shown >= step.low && shown <= step.high) within++;
    if (!statements.at(-1)!.text.startsWith('joined with')) continue;
    promised++;
    if (shown < wallOf(simulated(backward, now, buckets))) kept++;
  }
  expect(within).toBeGreaterThanOrEqual(950);
  expect(promised).toBeGreaterThan(300);
  expect(kept).toBeGreaterThanOrEqual(0.95 * promised);
});
