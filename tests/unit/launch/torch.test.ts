/** Specs that PyTorch cannot compute are refused before a process is started. */
import { expect, test } from 'vitest';
import { chooseDevice } from '../../../src/agent/torch/choose-device.ts';
import { checkedLaunch } from '../../harness/checked-launch.ts';

const FNN = { model: 'fnn3', dataset: 'digits' };

test('a built-in model is accepted, in every form of parallelism but one that splits it', () => {
  const spec = { workload: FNN, backend: 'torch', python: '/opt/venv/bin/python' };
  expect(checkedLaunch(spec).spec).toMatchObject(spec);
  for (const kind of ['synchronous', 'local-steps', 'asynchronous']) {
    const optimizer = { kind: 'sgd', momentum: 0 };
    checkedLaunch({ ...spec, optimizer, parallelism: { kind } });
  }
});

test.each<[place: string, spec: object]>([
  ['python', { workload: FNN, python: 'python3' }],
  ['backend', { workload: { command: ['true'] }, backend: 'torch' }],
  [
    'backend',
    {
      workload: { model: 'synthetic-gradient', dataset: 'none' },
      backend: 'torch',
    },
  ],
  [
    'backend',
    {
      workload: { ...FNN, model: 'mine.ts', modelSource: 'export default {}' },
      backend: 'torch',
    },
  ],
  [
    'parallelism.trainerThreads',
    {
      workload: FNN,
      backend: 'torch',
      optimizer: { kind: 'sgd', momentum: 0 },
      parallelism: { kind: 'asynchronous', trainerThreads: 2, staleness: 2 },
    },
  ],
])('%s is refused', (place, spec) => {
  expect(() => checkedLaunch(spec)).toThrow(
    expect.objectContaining({ code: 'TORCH_MISFIT', place }),
  );
});

test('each rank takes a GPU of its own, or the CPU where PyTorch sees none', () => {
  const rank = (place: number, ranks: number, share = false) => ({
    place,
    ranks,
    share,
  });
  expect(chooseDevice(0, rank(3, 8))).toBe('cpu');
  expect(chooseDevice(2, rank(1, 2))).toBe('cuda:1');
  expect(chooseDevice(2, rank(3, 4, true))).toBe('cuda:1');
  expect(() => chooseDevice(2, rank(0, 3))).toThrow(
    expect.objectContaining({ code: 'GPU_SHARED' }),
  );
});
