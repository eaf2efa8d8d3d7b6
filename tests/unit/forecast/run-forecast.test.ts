/** Sums of predicted runs, and the points that have none. */
import { expect, test } from 'vitest';
import {
  groundsText,
  sweepForecast,
  sweepForecastText,
  type RunForecast,
} from '../../../src/shared/forecast/run-forecast.ts';
import type { ErrorData } from '../../../src/shared/errors/errors.ts';

const run = (step: number, iterations: number, memory: number): RunForecast => ({
  step,
  compute: step / 2,
  iterations,
  time: step * iterations,
  bytes: 1000 * iterations,
  memory,
  computeOrigin: 'measured here',
  network: 'loopback',
});
const misfit: ErrorData = {
  code: 'PARALLELISM_MISFIT',
  kind: 'input',
  message: 'ranks do not wait',
};

test('points count once for each seed; a reason is told once, with its points', () => {
  const all = sweepForecast(
    [
      { point: 1, forecast: run(2, 100, 5e6) },
      { point: 2, error: misfit },
      { point: 3, forecast: run(4, 50, 7e6) },
      { point: 4, error: { ...misfit } },
      { point: 5, error: { ...misfit, message: 'a program' } },
    ],
    3,
  );
  expect(all).toMatchObject({
    runs: 15,
    predicted: 6,
    time: 3 * (200 + 200),
    bytes: 3 * (100_000 + 50_000),
    memory: 7e6,
  });
  expect(all.unpredicted.map(({ points }) => points)).toEqual([[2, 4], [5]]);
  expect(sweepForecastText(all)).toBe(
    '6 of 15 runs together: about 1.20 s of training, 450 kB sent by a rank, ' +
      'up to 7.00 MB of memory for a rank.',
  );
});

test('nothing is claimed where nothing was predicted', () => {
  const none = sweepForecast([{ point: 1, error: misfit }], 1);
  expect(sweepForecastText(none)).toBe('No run of these can be predicted.');
  expect(groundsText([])).toBe('');
  expect(
    sweepForecastText(sweepForecast([{ point: 1, forecast: run(1, 1, 1) }], 1)),
  ).toMatch(/^1 run: /);
});
