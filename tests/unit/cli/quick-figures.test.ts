/** Figures under `--quick`, by a clock that their runs move: no run is made. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { FigureEnd, runFigure } from '../../../src/cli/session/figure-runs.ts';
import {
  reproduceFigure,
  type FigurePlan,
} from '../../../src/cli/session/reproduced-figure.ts';
import type { FigurePrinter } from '../../../src/cli/text/figure-printer.ts';
import { figures } from '../../../src/reproduce/figures/registry.ts';
import { plannedRuns, type PlannedRun } from '../../../src/reproduce/planned-runs.ts';
import { QuickBudget, workOf } from '../../../src/reproduce/quick-budget.ts';

const MINUTE = 60_000;

const WHOLE = 'all runs are made';

const SILENT: FigurePrinter = {
  begin: () => undefined,
  run: () => undefined,
  end: () => undefined,
  givenUp: () => undefined,
  leftOut: () => undefined,
};

/** All figures that models decide, those with the least work first. */
const PLANS: readonly FigurePlan[] = figures
  .filter(({ timed }) => timed !== true)
  .map((figure) => ({
    figure,
    runs: plannedRuns(figure),
    full: undefined,
    python: undefined,
  }))
  .toSorted((a, b) => workOf(a.runs) - workOf(b.runs));

const make = vi.fn<typeof runFigure>();
let errors = '';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  errors = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    errors += String(text);
    return true;
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/**
 * Makes runs that take this long alone, and together as long as one after another, until one of them says that it
 * is enough. There is nothing to judge: a figure that is made whole fails.
 */
function takingTime(milliseconds: (run: PlannedRun) => number): void {
  make.mockImplementation((_workspace, _figure, planned, { atOnce, progress }) => {
    let made = 0;
    while (made < planned.length) {
      const together = planned.slice(made, made + atOnce);
      const took = together.reduce((sum, one) => sum + milliseconds(one), 0);
      vi.advanceTimersByTime(took);
      for (const one of together) {
        const { case: of, seed } = one;
        const goesOn = progress({
          planned: one,
          stored: { run: 'r', case: of.id, seed, values: {} },
          index: ++made,
          milliseconds: took,
          isKept: false,
        });
        if (!goesOn) return Promise.resolve({ givenUpAfter: made });
      }
    }
    return Promise.reject(new Error(WHOLE));
  });
}

/** @returns the minutes that all figures took, and how many were begun */
async function quickly(
  quick: QuickBudget,
): Promise<{ readonly minutes: number; readonly begun: number }> {
  const began = performance.now();
  let begun = 0;
  for (const plan of PLANS) {
    await reproduceFigure({} as never, plan, {
      interruption: {} as never,
      json: false,
      keep: () => Promise.resolve({ remove: () => Promise.resolve() } as never),
      make,
      printer: { ...SILENT, begin: () => void begun++ },
      quick,
      write: () => Promise.resolve('page'),
    });
  }
  return { minutes: (performance.now() - began) / MINUTE, begun };
}

test.each([
  ['all alike', () => 2 * MINUTE],
  ['by their work, as those of one model on a slow machine', null],
] as const)('half an hour is kept where first runs take long: %s', async (_, took) => {
  const most = Math.max(...PLANS.map(({ runs }) => workOf(runs.slice(0, 1))));
  takingTime(took ?? ((run) => (15 * MINUTE * workOf([run])) / most));
  const quick = new QuickBudget();
  const { begun, minutes } = await quickly(quick);
  expect(minutes).toBeLessThan(30);
  expect(begun).toBeGreaterThan(3);
  expect(begun).toBeLessThan(PLANS.length);
  // Each is accounted for: made whole, given up after a run, or not begun.
  const whole = errors.split(WHOLE).length - 1;
  expect(whole + quick.leftOut.length).toBe(PLANS.length);
  const { why } = quick.leftOut.at(-1)!;
  expect(why).toMatch(
    /^not begun: [\w ]+ of the time was left, and its first run may take [\w ]+$/,
  );
  // They cannot be made after all, as nothing is known of them.
  expect(quick.takeBack()).toBeUndefined();
});

test('short first runs leave no figure out unseen', async () => {
  takingTime(() => 200);
  const { begun } = await quickly(new QuickBudget());
  expect(begun).toBe(PLANS.length);
});

test('a slow model’s short run says nothing of another model’s', async () => {
  // The paces of idle processors, in milliseconds of an iteration and rank.
  takingTime(({ spec }) => {
    const { workload } = spec as { workload: { model: string } };
    const isResidual = workload.model.startsWith('resnet');
    return workOf([{ spec } as PlannedRun]) * (isResidual ? 40 : 1);
  });
  const quick = new QuickBudget(40 * MINUTE);
  const { minutes } = await quickly(quick);
  expect(minutes).toBeLessThan(40);
  const leftOut = quick.leftOut.filter(({ why }) => why.startsWith('not begun'));
  for (const { figure } of leftOut) {
    const { runs } = PLANS.find((plan) => plan.figure.id === figure)!;
    expect(workOf(runs.slice(0, 1)) * 40).toBeGreaterThan(MINUTE);
  }
});

test('the time of figures that fail is gone, too', async () => {
  make.mockImplementation((): Promise<FigureEnd> => {
    vi.advanceTimersByTime(4 * MINUTE);
    return Promise.reject(new Error('its last run failed'));
  });
  const { minutes } = await quickly(new QuickBudget());
  expect(minutes).toBeLessThan(30);
});
