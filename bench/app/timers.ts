/** What the phase clock costs: its changes of phase in a real exchange, times one change. */
import { PhaseClock } from '../../src/agent/profile/phase-clock.ts';
import type { Measurement } from '../report.ts';

/** Changes of phase per iteration at P = 4, dense ring: messages and pieces of work. */
const CHANGES = 120;
const ITERATION_MS = 5;

export function measureTimers(): readonly Measurement[] {
  const clock = new PhaseClock();
  clock.begin();
  const rounds = 1_000_000;
  const work = (): void => undefined;
  for (let i = 0; i < rounds / 10; i++) clock.measure('reduce', work);
  const start = performance.now();
  for (let i = 0; i < rounds; i++) clock.measure('reduce', work);
  const perMeasure = (performance.now() - start) / rounds;
  return [
    {
      name: 'timers',
      value: (100 * CHANGES * perMeasure) / ITERATION_MS,
      unit: '%',
      goal: 0.5,
      note:
        `of an iteration of ${ITERATION_MS} ms with ${CHANGES} changes of phase, ` +
        `${(1e6 * perMeasure).toFixed(0)} ns each`,
    },
  ];
}
