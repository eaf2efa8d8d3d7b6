import { describe, expect, it } from 'vitest';
import type { ExchangeForecast } from '../../../src/shared/cost-model/exchange-forecast.ts';
import { runOrderSchema } from '../../../src/shared/orders/orders.ts';
import {
  foreseenStep,
  foreseenText,
} from '../../../src/shared/verdict/foreseen-step.ts';
import type { Crowd } from '../../../src/shared/verdict/core-crowding.ts';
import { RecentIterations } from '../../../src/shared/verdict/recent-iterations.ts';
import { accountOf } from '../../../src/shared/verdict/step-account.ts';
import {
  summarizeWindow,
  VERDICT_MINIMUM,
} from '../../../src/shared/verdict/window-summary.ts';
import type { PhaseTimes } from '../../../src/shared/records/phases.ts';
import { iterationRecord } from '../renderer/records.ts';

/** Two ranks, twenty equal iterations. */
const observed = (phases: Partial<PhaseTimes>, overlapped = 0) =>
  observedIn(
    Array.from({ length: 20 }, () => phases),
    overlapped,
  );

/** Two ranks with these iterations. */
function observedIn(
  iterations: readonly Partial<PhaseTimes>[],
  overlapped = 0,
  crowd?: Crowd,
) {
  const recent = new RecentIterations(2, 64);
  for (const [iteration, phases] of iterations.entries()) {
    for (const rank of [0, 1])
      recent.add(iterationRecord({ rank, iteration, phases, overlapped }));
  }
  const summary = summarizeWindow(recent, 0, iterations.length)!;
  const account = accountOf(summary.series, {
    ranks: 2,
    flight: 0,
    isLinkKnown: false,
    crowd,
  });
  return (now: Partial<ExchangeForecast>, then: Partial<ExchangeForecast>) =>
    foreseenStep(summary, account, { now: forecast(now), then: forecast(then) });
}

/** Times in milliseconds here, in seconds there. */
function forecast(times: Partial<ExchangeForecast>): ExchangeForecast {
  const {
    bandwidth = 0,
    compress = 0,
    decompress = 0,
    latency = 0,
    reduction = 0,
  } = times;
  return {
    collective: 'ring',
    bandwidth: bandwidth / 1000,
    latency: latency / 1000,
    reduction: reduction / 1000,
    compress: compress / 1000,
    decompress: decompress / 1000,
    payloadBytes: 100,
    wireBytes: 200,
  };
}

const DENSE = { compute: 10, receive: 20 };

describe('a step foreseen', () => {
  it('is never shorter than nothing, however uneven the steps: its switch is accepted', () => {
    for (let n = VERDICT_MINIMUM; n < 40; n++) {
      const uneven = Array.from({ length: n }, (_, i) => ({
        compute: i === 1 ? 500 : 1,
        receive: 1,
      }));
      const { then } = observedIn(uneven)({ bandwidth: 20 }, { bandwidth: 2 });
      const { high, low, mean } = then;
      const order = {
        type: 'switch',
        change: { method: 'topk' },
        residual: 'flush',
        foreseen: { step: mean, low, high },
      };
      expect([n, runOrderSchema.safeParse(order).error]).toEqual([n, undefined]);
      expect([n, low <= mean]).toEqual([n, true]);
    }
  });

  it('replaces what is observed of the exchange and of compression', () => {
    const { now, then } = observed(DENSE)(
      { bandwidth: 20 },
      { bandwidth: 2, compress: 3 },
    );
    expect(now.mean).toBeCloseTo(30, 9);
    // 10 of computing, 2 of exchange, 3 of compression.
    expect(then.mean).toBeCloseTo(15, 9);
    // Margins of 20 % and 40 % on each side.
    expect(then.low).toBeCloseTo(10 + 1.6 + 1.8, 9);
    expect(then.high).toBeCloseTo(10 + 2.4 + 4.2, 9);
  });

  it('corrects the constant that dominates by what this run shows', () => {
    // The link is twice as slow as predicted; the other plan's exchange is half latency.
    const { then } = observed(DENSE)({ bandwidth: 10 }, { bandwidth: 1, latency: 1 });
    expect(then.mean).toBeCloseTo(10 + 2 + 1, 9);
    // Uncorrected 2, corrected 3, all of it twice as long 4.
    expect(then.low).toBeCloseTo(10 + 2 * 0.8, 9);
    expect(then.high).toBeCloseTo(10 + 4 * 1.2, 9);
  });

  it('promises nothing of the time that ranks may wait for cores', () => {
    const crowd = { machine: 'node-a', ranks: 2, cores: 1 };
    const iterations = Array.from({ length: 20 }, () => DENSE);
    const foreseen = observedIn(iterations, 0, crowd)({ bandwidth: 5 }, {});
    // The network explains 5 of 20 ms. The other 15 are bytes on a slower link, or all stay.
    expect(foreseen.then.low).toBeCloseTo(10, 9);
    expect(foreseen.then.high).toBeCloseTo(10 + 15 * 1.2, 9);
    expect(foreseen.then.mean).toBeCloseTo(10 + 15 / 2, 9);
    const alone = observed(DENSE)({ bandwidth: 5 }, {});
    expect(alone.then.high).toBeCloseTo(10, 9);
    // What the network explains is promised all the same.
    const explained = observedIn(iterations, 0, crowd)({ bandwidth: 20 }, {});
    expect(explained.then.mean).toBeCloseTo(10, 9);
  });

  it('takes compression as slow as it is here', () => {
    const topk = { compute: 10, compress: 6, receive: 2 };
    const { then } = observed(topk)(
      { bandwidth: 2, compress: 3 },
      { bandwidth: 1, compress: 1 },
    );
    expect(then.mean).toBeCloseTo(10 + 1 + 2, 9);
  });

  it('hides as much behind computing as is hidden now, or the same part', () => {
    const { then } = observed({ compute: 10, receive: 5 }, 15)(
      { bandwidth: 20 },
      { bandwidth: 16 },
    );
    // As much leaves 1 of 16, the same part a quarter of it.
    expect(then.mean).toBeCloseTo(10 + (1 + 4) / 2, 9);
    expect(then.low).toBeCloseTo(10, 9);
    expect(then.high).toBeCloseTo(10 + Math.max(16 * 1.2 - 15, (16 * 1.2) / 4), 9);
    const short = observed({ compute: 10, receive: 5 }, 15)(
      { bandwidth: 20 },
      { bandwidth: 4 },
    );
    expect(short.then.mean).toBeCloseTo(10 + (0 + 1) / 2, 9);
    const same = observed({ compute: 10, receive: 5 }, 15)(
      { bandwidth: 20 },
      { bandwidth: 20 },
    );
    expect(same.then.mean).toBeCloseTo(15, 9);
  });

  it('says what is clear, and what is not', () => {
    const faster = observed(DENSE)({ bandwidth: 20 }, { bandwidth: 2 });
    expect(foreseenText(faster)).toBe(
      'a step would take about 12.0 ms (11.6 ms–12.4 ms) instead of 30.0 ms: 2.50× as fast',
    );
    const slower = observed(DENSE)({ bandwidth: 20 }, { bandwidth: 2, compress: 90 });
    expect(foreseenText(slower)).toContain('3.40× as slow; do not switch for speed');
    const same = observed(DENSE)({ bandwidth: 20 }, { bandwidth: 20 });
    expect(foreseenText(same)).toContain('no clear difference');
  });
});
