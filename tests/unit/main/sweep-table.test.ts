/** Queues of sweeps in the store: order, edits, who drives, and what a kill leaves. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { failure } from '../../../src/shared/errors/errors.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import { ownName } from '../../../src/main/home/process-name.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';

let home: TemporaryStore;
beforeEach(() => {
  home = new TemporaryStore();
});
afterEach(() => {
  home.close();
});

const spec = parseExperimentSpec({ workload: { model: 'fnn3', dataset: 'digits' } });
const ME = ownName();
/** A process that has ended. */
const GONE = String(2 ** 30);

function create(id: string, seeds: readonly number[] = [1, 2]): void {
  home.store.sweeps.create({
    id,
    name: 'ratios',
    keys: ['exchange.ratio'],
    points: ['0.1', '0.2'].map((ratio, index) => ({
      number: index + 1,
      label: `ratio ${ratio}`,
      values: { 'exchange.ratio': ratio },
      spec,
    })),
    seeds,
    atOnce: 1,
    createdAt: Date.now(),
    driver: ME,
  });
}

/** Launches the next run of the queue. */
function launch(sweep: string, run: string): number {
  const { number } = home.store.sweeps.next(sweep)!;
  const place = { sweep, number, driver: ME };
  home.store.create({
    id: run,
    spec,
    switches: [],
    createdAt: Date.now(),
    sweep: place,
  });
  return number;
}

const queue = (sweep: string): readonly number[] =>
  home.store.sweeps
    .detail(sweep)
    .runs.filter(({ state }) => state === 'queued')
    .map(({ number }) => number);

it('has every point with the first seed before the second, and names that are unique', () => {
  create('a');
  create('b');
  const { sweeps } = home.store;
  expect(sweeps.detail('a').runs.map(({ point, seed }) => [point, seed])).toEqual([
    [1, 1],
    [2, 1],
    [1, 2],
    [2, 2],
  ]);
  expect(sweeps.list().map(({ name }) => name)).toEqual(['ratios 2', 'ratios']);
  expect(sweeps.resolve('ratios 2')).toBe('b');
  expect(() => sweeps.resolve('c')).toThrow(
    expect.objectContaining({ code: 'SWEEP_UNKNOWN' }),
  );
});

it('can be edited while it waits: dropped, moved, tried again, more seeds', () => {
  create('a');
  const { sweeps } = home.store;
  sweeps.edit('a', { type: 'first', runs: [4, 3] });
  expect(queue('a')).toEqual([4, 3, 1, 2]);
  sweeps.edit('a', { type: 'drop', runs: [3] });
  sweeps.edit('a', { type: 'seeds', seeds: [2, 9] });
  expect(queue('a')).toEqual([4, 1, 2, 5, 6]);
  expect(sweeps.detail('a').runs.at(-1)).toMatchObject({ point: 2, seed: 9 });
  sweeps.edit('a', { type: 'retry', runs: [3] });
  expect(queue('a')).toContain(3);
  for (const edit of [
    { type: 'drop' as const, runs: [77] },
    { type: 'retry' as const, runs: [1] },
  ]) {
    expect(() => {
      sweeps.edit('a', edit);
    }).toThrow(expect.objectContaining({ code: 'SWEEP_RUN_UNKNOWN' }));
  }
  expect(() => {
    sweeps.edit('a', {
      type: 'seeds',
      seeds: Array.from({ length: 300 }, (_, at) => at + 20),
    });
  }).toThrow(expect.objectContaining({ code: 'SWEEP_TOO_LARGE' }));
  expect(queue('a')).toHaveLength(6);
});

it('joins a run with its place once, and only for its driver', () => {
  create('a');
  const { sweeps } = home.store;
  launch('a', 'one');
  expect(home.store.summary('one').sweep).toEqual({ id: 'a', name: 'ratios' });
  expect(sweeps.live('a')).toEqual(['one']);
  for (const place of [
    { sweep: 'a', number: 1, driver: ME },
    { sweep: 'a', number: 2, driver: GONE },
  ]) {
    expect(() => {
      home.store.create({ id: 'two', spec, switches: [], createdAt: 0, sweep: place });
    }).toThrow(expect.objectContaining({ code: 'SWEEP_CHANGED' }));
  }
  expect(home.store.has('two')).toBe(false);
  expect(home.store.runs.pages.matching({ filter: 'sweep:ratios' })).toEqual(['one']);
});

it('has one driver, who may be followed by another once it is gone', () => {
  create('a');
  const { sweeps } = home.store;
  expect(sweeps.claim('a', GONE)).toBe(false);
  expect(sweeps.summary('a').state).toBe('running');
  sweeps.release('a', ME);
  expect(sweeps.waiting()).toEqual(['a']);
  expect(sweeps.claim('a', GONE)).toBe(true);
  expect(sweeps.drives('a', ME)).toBe(false);
});

it('goes back to the queue what was stopped with it, and what never began', () => {
  create('a');
  const { sweeps } = home.store;
  launch('a', 'one');
  expect(sweeps.stop('a', { isInterrupted: true })).toEqual(['one']);
  expect(sweeps.next('a')).toBeUndefined();
  home.store.fail('one', failure('RUN_STOPPED', 'stopped').toData(), Date.now());
  expect(sweeps.summary('a')).toMatchObject({
    state: 'stopped',
    counts: { stopped: 1 },
  });
  sweeps.resume('a');
  expect(launch('a', 'two')).toBe(1);
  home.store.fail('two', failure('RUN_LOST', 'lost').toData(), Date.now());
  sweeps.requeueUnbegun('a');
  expect(launch('a', 'three')).toBe(1);
  home.store.fail('three', failure('LOSS_NOT_FINITE', 'NaN').toData(), Date.now());
  sweeps.requeueUnbegun('a');
  expect(sweeps.detail('a').runs[0]).toMatchObject({
    state: 'failed',
    run: 'three',
    error: { code: 'LOSS_NOT_FINITE' },
  });
});

it('leaves its runs when it is deleted', () => {
  create('a');
  launch('a', 'one');
  const { sweeps } = home.store;
  expect(() => {
    sweeps.remove('a');
  }).toThrow(expect.objectContaining({ code: 'RUN_NOT_ENDED' }));
  home.store.fail('one', failure('RUN_LOST', 'lost').toData(), Date.now());
  const before = sweeps.version();
  sweeps.remove('a');
  expect(sweeps.version()).not.toBe(before);
  expect(home.store.summary('one').sweep).toBeUndefined();
});
