/**
 * Each rule over a recorded series in which its condition holds, and one in which it just does not;
 * and an episode raises one alert.
 */
import { describe, expect, test } from 'vitest';
import { ALERT_RULES } from '../../../src/shared/alerts/alert-rules.ts';
import { RunWatch } from '../../../src/shared/alerts/run-watch.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import { zeroPhases } from '../../../src/shared/records/phases.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { done, started } from '../main/sample-records.ts';
import { ObservedRun } from './observed-run.ts';

const notice = (code: string, level: 'info' | 'warning' = 'warning'): RunRecord => ({
  type: 'notice',
  at: 1,
  level,
  code,
  message: 'the test loss is NaN',
});
const failed = (code: string, rank?: number): RunRecord => ({
  type: 'failed',
  at: 1,
  error: {
    code,
    kind: 'failure',
    message: 'loss is NaN',
    ...(rank === undefined ? {} : { rank }),
  },
});
const evaluation = (loss?: number): RunRecord => ({
  type: 'evaluation',
  iteration: 5,
  at: 1,
  ...(loss === undefined ? {} : { loss }),
  samples: 10,
  wall: 1,
});

test('every rule has its own id, a sentence and advice', () => {
  expect(new Set(ALERT_RULES.map(({ id }) => id)).size).toBe(ALERT_RULES.length);
  for (const { about, next } of ALERT_RULES) {
    expect(about).toMatch(/^[A-Z].*\.$/);
    expect(next).toMatch(/^[A-Z].*[^.]\.?$/);
  }
});

describe('loss-not-finite', () => {
  test('is raised by an evaluation that is not finite, once, and is over with the next finite one', () => {
    const run = new ObservedRun();
    run.record(notice('EVALUATION_NOT_FINITE'));
    run.record(notice('EVALUATION_NOT_FINITE'));
    run.record(evaluation());
    run.record(evaluation(0.3));
    expect(run.told).toEqual(['loss-not-finite raised', 'loss-not-finite over']);
  });

  test('is raised by the failure that names the rank, beside run-failed', () => {
    const run = new ObservedRun();
    run.record(failed('LOSS_NOT_FINITE', 1));
    expect(run.told).toEqual(['loss-not-finite raised 1', 'run-failed raised 1']);
  });

  test('is not raised by another notice', () => {
    const run = new ObservedRun();
    run.record(notice('MEASURE_NOT_FINITE'));
    // As of a step that a GradScaler skips.
    run.record(notice('GRADIENT_NOT_FINITE', 'info'));
    expect(run.told).toEqual([]);
  });
});

describe('loss-rising', () => {
  /** Falls from 2 to 1 in 200 iterations, and then stays where `then` says. */
  const falling =
    (then: number) =>
    (iteration: number): Partial<IterationRecord> => ({
      loss: iteration < 200 ? 2 - iteration / 200 : then,
    });

  test('is raised above the lowest mean by a fifth of it and a tenth of the gain', () => {
    const run = new ObservedRun();
    // The lowest stretch has a mean of 1.0525, of a gain of 0.9: the bound is 1.3525.
    run.iterations(0, 260, falling(1.36));
    expect(run.told).toEqual(['loss-rising raised']);
    expect(run.messages[0]).toBe(
      'mean loss 1.3600 over 20 iterations, after 1.0525 at its lowest',
    );
  });

  test('is not raised just below', () => {
    const run = new ObservedRun();
    run.iterations(0, 260, falling(1.345));
    expect(run.told).toEqual([]);
  });

  test('is raised once for an episode, whatever the loss does near the bound', () => {
    const run = new ObservedRun();
    run.iterations(0, 200, falling(0));
    run.iterations(200, 400, (iteration) => ({
      loss: Math.floor(iteration / 20) % 2 === 0 ? 1.36 : 1.34,
    }));
    expect(run.told).toEqual(['loss-rising raised']);
    run.iterations(400, 460, () => ({ loss: 1.06 }));
    run.iterations(460, 500, () => ({ loss: 2 }));
    expect(run.told.slice(1)).toEqual(['loss-rising over', 'loss-rising raised']);
  });

  test('is raised of a run that only diverges, and not of noise once the loss is small', () => {
    const diverging = new ObservedRun();
    diverging.iterations(0, 45, (iteration) => ({ loss: 2 * 1.02 ** iteration }));
    expect(diverging.told).toEqual(['loss-rising raised']);
    const settled = new ObservedRun();
    settled.iterations(0, 40, () => ({ loss: 2.3 }));
    settled.iterations(40, 400, (iteration) => ({
      loss: Math.floor(iteration / 20) % 2 === 0 ? 0.01 : 0.1,
    }));
    expect(settled.told).toEqual([]);
  });

  test('says nothing of a run without losses', () => {
    const run = new ObservedRun();
    run.iterations(0, 100, () => ({ loss: undefined }));
    expect(run.told).toEqual([]);
  });
});

describe('at-chance', () => {
  const end = (
    metric: number,
    chance: number | undefined,
    iterations = 50,
  ): string[] => {
    const run = new ObservedRun();
    run.record({
      ...started,
      ...(chance === undefined ? {} : { chance }),
    } as RunRecord);
    run.record({ ...done, metric, iterations } as RunRecord);
    return run.told;
  };

  test('is raised within a twentieth of the way from chance to certainty', () => {
    expect(end(0.144, 0.1)).toEqual(['at-chance raised']);
    expect(end(0.146, 0.1)).toEqual([]);
    expect(end(0.52, 0.5)).toEqual(['at-chance raised']);
    expect(end(0.53, 0.5)).toEqual([]);
  });

  test('among many classes, half as much again as chance is learnt', () => {
    expect(end(0.0014, 0.001)).toEqual(['at-chance raised']);
    expect(end(0.0016, 0.001)).toEqual([]);
  });

  test('is not raised of a short run, nor where chance is not known', () => {
    expect(end(0.1, 0.1, 49)).toEqual([]);
    expect(end(0.1, undefined)).toEqual([]);
  });

  test('is not raised of a run that was stopped', () => {
    const run = new ObservedRun();
    run.record({ ...started, chance: 0.1 } as RunRecord);
    run.record({
      ...done,
      metric: 0.1,
      iterations: 90,
      reason: 'stopped',
    } as RunRecord);
    expect(run.told).toEqual([]);
  });
});

describe('long-wait', () => {
  const waits =
    (wait: number, rank = 1) =>
    (_: number, of: number) => ({
      wall: 10,
      phases: { ...zeroPhases(), wait: of === rank ? wait : 1, compute: 4 },
      waitedFor: { 0: wait },
    });

  test('is raised after 20 steps in a row with more than half of them waiting', () => {
    const run = new ObservedRun();
    run.iterations(0, 19, waits(5.1));
    expect(run.told).toEqual([]);
    run.iterations(19, 40, waits(5.1));
    expect(run.told).toEqual(['long-wait raised 1']);
    expect(run.messages[0]).toBe(
      'rank 1 waited for more than 50 % of each of 20 steps, 51 % of the last one, mostly for rank 0',
    );
  });

  test('is not raised at half, nor if one step in 20 is quick', () => {
    const half = new ObservedRun();
    half.iterations(0, 60, waits(5));
    const broken = new ObservedRun();
    broken.iterations(0, 100, (iteration, rank) =>
      waits(iteration % 20 === 19 ? 1 : 9)(iteration, rank),
    );
    expect([half.told, broken.told]).toEqual([[], []]);
  });

  test('is over once every rank waits clearly less', () => {
    const run = new ObservedRun();
    run.iterations(0, 20, waits(6));
    run.iterations(20, 60, waits(4.5));
    expect(run.told).toHaveLength(1);
    run.iterations(60, 80, waits(3));
    expect(run.told).toEqual(['long-wait raised 1', 'long-wait over']);
  });
});

describe('silent-rank', () => {
  const after = (run: ObservedRun, ms: number): void => {
    for (const end = run.now + ms; run.now < end;) {
      run.now += 5000;
      run.look();
    }
  };

  test('is raised for the rank that reports nothing for a minute, and over when it does', () => {
    const run = new ObservedRun();
    run.iterations(0, 10, () => ({}));
    run.look();
    for (let iteration = 10; iteration < 21; iteration++) {
      after(run, 5000);
      run.iterations(iteration, iteration + 1, () => ({}), [0]);
    }
    expect(run.told).toEqual([]);
    after(run, 6000);
    expect(run.told).toEqual(['silent-rank raised 1']);
    run.iterations(21, 22, () => ({}));
    run.look();
    expect(run.told[1]).toBe('silent-rank over');
  });

  test('names no rank if none reports', () => {
    const run = new ObservedRun();
    run.iterations(0, 10, () => ({}));
    run.look();
    after(run, 65_000);
    expect(run.told).toEqual(['silent-rank raised']);
  });

  test('is not raised before the first iteration, while the run waits, or after its end', () => {
    const run = new ObservedRun();
    run.record(started);
    run.look();
    after(run, 120_000);
    run.iterations(0, 5, () => ({}));
    run.record({
      type: 'restarted',
      at: 1,
      node: 'local',
      iteration: 0,
      processes: [],
    });
    after(run, 120_000);
    expect(run.told).toEqual([]);
  });

  test('a run whose steps take long may be silent for longer', () => {
    const run = new ObservedRun();
    run.look();
    for (let iteration = 0; iteration < 3; iteration++) {
      run.iterations(iteration, iteration + 1, () => ({}));
      after(run, 40_000);
    }
    after(run, 60_000);
    expect(run.told).toEqual([]);
  });

  test('nothing is silent while this computer slept', () => {
    const run = new ObservedRun();
    run.look();
    run.iterations(0, 10, () => ({}));
    run.now += 3_600_000;
    run.look();
    expect(run.told).toEqual([]);
  });
});

describe('growing-residual', () => {
  test('is raised once the norm doubles within six stretches', () => {
    const run = new ObservedRun();
    const norm = (iteration: number) => ({
      residualNorm: iteration < 700 ? 1 : 1.003 ** (iteration - 700),
    });
    run.iterations(0, 1400, norm, [0]);
    expect(run.told).toEqual(['growing-residual raised']);
    run.iterations(1400, 1600, () => ({ residualNorm: 5 }), [0]);
    expect(run.told[1]).toBe('growing-residual over');
  });

  test('is not raised by growth in proportion to the iterations, nor by a slow one', () => {
    const linear = new ObservedRun();
    linear.iterations(0, 1500, (iteration) => ({ residualNorm: iteration + 1 }), [0]);
    const slow = new ObservedRun();
    slow.iterations(
      0,
      1500,
      (iteration) => ({ residualNorm: 1.0027 ** iteration }),
      [0],
    );
    expect([linear.told, slow.told]).toEqual([[], []]);
  });
});

describe('disk-filling', () => {
  test('is raised below a gigabyte, and over only well above', () => {
    const run = new ObservedRun();
    for (const free of [1.1e9, 0.99e9, 1.1e9, 0.99e9, 1.3e9]) run.look(free);
    expect(run.told).toEqual(['disk-filling raised', 'disk-filling over']);
  });

  test('is not raised at the bound, nor where free space is not known', () => {
    const run = new ObservedRun();
    run.look(1e9);
    run.look();
    expect(run.told).toEqual([]);
  });
});

test('run-failed is raised by a failure, and not by a stop', () => {
  const failing = new ObservedRun();
  failing.record(failed('PEER_LOST', 2));
  const stopped = new ObservedRun();
  stopped.record(failed('RUN_STOPPED'));
  expect([failing.told, stopped.told]).toEqual([['run-failed raised 2'], []]);
});

test('a rule that is off is not evaluated, and one of other bounds keeps to them', () => {
  const run = new ObservedRun(new Map([['disk-filling', { gigabytes: 5 }]]));
  run.record(failed('LOSS_NOT_FINITE'));
  run.look(4e9);
  expect(run.told).toEqual(['disk-filling raised']);
});

test('a state that cannot be read begins anew', () => {
  for (const state of ['', '[1]', '{"long-wait": {"state": {"long": 3}}}', 'null']) {
    const watch = new RunWatch(state);
    const told = watch.observe({ kind: 'moment', now: 0, freeBytes: 5e8 });
    expect(told.map(({ alert }) => alert.rule)).toEqual(['disk-filling']);
  }
});
