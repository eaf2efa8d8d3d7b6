/** The progress on the app's icon: of what, and when it is told. */
import { expect, it } from 'vitest';
import { showProgress } from '../../../src/main/electron/dock-progress.ts';
import type { RunSummary } from '../../../src/shared/rpc/run-summary.ts';
import { OPEN_ENDED } from '../../../src/shared/spec/program-spec.ts';

const run = (id: string, changes: Partial<RunSummary>): RunSummary => ({
  id,
  name: id,
  state: 'running',
  createdAt: 0,
  iterations: 0,
  iterationsPlanned: 200,
  ranks: 2,
  nodes: [],
  model: 'fnn3',
  dataset: 'digits',
  methods: ['none'],
  deleted: false,
  ...changes,
});

it('is that of all runs in progress, told when it changes, and ends with the last', () => {
  const told: number[] = [];
  const listener = showProgress((progress) => told.push(progress));
  const saw = (id: string, changes: Partial<RunSummary>): void => {
    listener('runChanged', run(id, changes));
  };
  saw('a', { iterations: 0 });
  saw('a', { iterations: 50 });
  saw('a', { iterations: 51 });
  saw('b', { iterations: 0, iterationsPlanned: 800, state: 'starting' });
  saw('queued', { queue: { type: 'queued' } as never });
  listener('historyPurged');
  saw('a', { iterations: 200, state: 'completed' });
  saw('b', { iterations: 400, iterationsPlanned: 800 });
  saw('b', { state: 'failed', iterationsPlanned: 800 });
  expect(told).toEqual([0, 0.25, 0.05, 0, 0.5, -1]);
});

it('has no end where no run has one', () => {
  const told: number[] = [];
  const listener = showProgress((progress) => told.push(progress));
  listener('runChanged', run('a', { iterationsPlanned: OPEN_ENDED, iterations: 7 }));
  listener('runChanged', run('b', { iterations: 100 }));
  listener('runChanged', run('b', { iterations: 200, state: 'completed' }));
  listener('runChanged', run('a', { state: 'stopped' }));
  expect(told).toEqual([2, 0.5, 2, -1]);
});
