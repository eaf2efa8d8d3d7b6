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

const TRACEBACK = `Traceback (most recent call last):
  File "train.py", line 3, in <module>
    raise ValueError("bad\\nworse")
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
`;

test.each([
  [`${TRACEBACK}ValueError: bad\n`, 'ValueError: bad'],
  [`${TRACEBACK}ValueError: bad\nworse\nworst\n`, 'ValueError: bad … worst'],
  [`${TRACEBACK}KeyError: 1\n\nDuring …\n\n${TRACEBACK}ValueError\n`, 'ValueError'],
  [
    `${TRACEBACK}ValueError: bad\nworse\n`.replaceAll(/^(?=.)/gm, '[rank1]: '),
    '[rank1]: ValueError: bad … [rank1]: worse',
  ],
  // A program that tells of an exception and ends with words of its own.
  [`${TRACEBACK}ValueError: bad\nno such data\n`, 'ValueError: bad … no such data'],
  ['no such data\n', 'no such data'],
  [
    "Fatal Python error: init_fs_encoding: no codec\nModuleNotFoundError: No module named 'encodings'\n\n" +
      'Current thread 0x7f (most recent call first):\n  <no Python frame>\n',
    'Fatal Python error: init_fs_encoding: no codec',
  ],
  [TRACEBACK, '^^^^^^^^^^^^^^^^^^^^^^^^^^^^^'],
])('a program that failed is told by its exception: %j', (stderr, words) => {
  expect(
    endedEarly(exited(1, stderr), { ...launcher, isLauncher: false }),
  ).toMatchObject({
    code: 'PROGRAM_FAILED',
    message: `the program ended with exit code 1: ${words}`,
  });
});
