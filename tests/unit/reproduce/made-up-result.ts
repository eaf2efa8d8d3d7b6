/** Results that no run gave, for pages. */
import type { Figure } from '../../../src/reproduce/figure.ts';
import { resultOf, type Result } from '../../../src/reproduce/result.ts';
import { madeUpRuns, SOME_VALUES } from './made-up-sweep.ts';

/** @param evil is in what the device and the runs are called */
export const madeUp = (figure: Figure, evil = ''): Result =>
  resultOf(
    figure,
    madeUpRuns(figure, () => SOME_VALUES).map((run, index) => ({
      ...run,
      run: `run-${index}${evil}`,
      ...(run.seed === 1 ? { curve: [{ x: 1, y: 0.5 }] } : {}),
    })),
    {
      device: {
        processor: `A${evil} processor`,
        cores: 2,
        system: 'a system',
        load: 3.14,
      },
      gradwire: '0.0.0',
      measuredAt: Date.UTC(2026, 0, 2, 12),
      seconds: 65,
    },
  );
