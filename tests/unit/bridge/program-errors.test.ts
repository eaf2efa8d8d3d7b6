import { expect, test } from 'vitest';
import { endedEarly } from '../../../src/agent/bridge/program-errors.ts';

const launcher = {
  run: 'q9f6w9hj',
  rank: 0,
  observes: false,
  isLauncher: true,
  isConnected: false,
  isAttached: false,
};
const exited = (code: number, stderr = '') => ({ code, signal: null, stderr });

test.each([
  [exited(2, 'torchrun: error: no such option\n'), 'with exit code 2: torchrun: error'],
  [
    exited(127, 'sh: torchrun: not found\n'),
    'before it began: sh: torchrun: not found',
  ],
  [{ code: null, signal: 'SIGKILL', stderr: '' } as const, 'by SIGKILL'],
  [exited(0), 'with exit code 0, before rank 0 had joined'],
])('a launcher that ends is no rank that fails: %j', (exit, words) => {
  const error = endedEarly(exit, launcher);
  expect(error.code).toBe('LAUNCHER_FAILED');
  expect(error.message).toContain(`the launcher ended ${words}`);
  expect(error.rank).toBeUndefined();
});

test.each([
  ['1 (pid: 77)', '[rank3]: ValueError: bad', 'with exit code 1: ValueError: bad'],
  ['-9 (pid: 77)', '', 'by signal 9'],
])(
  'the rank that torchrun names is the one that has failed: %s',
  (status, line, how) => {
    const stderr = `${line}
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
Root Cause (first observed failure):
[0]:
  time      : 2026-11-28_04:00:00
  rank      : 3 (local_rank: 1)
  exitcode  : ${status}
============================================================
`;
    expect(endedEarly(exited(1, stderr), launcher)).toMatchObject({
      code: 'PROGRAM_FAILED',
      message: `the program ended ${how}`,
      rank: 3,
    });
  },
);
