import { expect, test } from 'vitest';
import {
  memoryLimit,
  memoryWords,
  refusedMemory,
} from '../../../src/agent/memory/memory-limit.ts';

const limits = (data: string, addresses: string): string =>
  [
    'Limit                     Soft Limit           Hard Limit           Units     ',
    `Max data size             ${data.padEnd(20)} unlimited            bytes     `,
    'Max stack size            8388608              unlimited            bytes     ',
    `Max address space         ${addresses.padEnd(20)} unlimited            bytes     `,
  ].join('\n');

test.each([
  [limits('unlimited', '2048000000'), ['RLIMIT_AS', 1953]],
  [limits('524288000', 'unlimited'), ['RLIMIT_DATA', 500]],
  [limits('524288000', '2048000000'), ['RLIMIT_AS', 1953]],
  [limits('unlimited', 'unlimited'), [undefined, undefined]],
  ['', [undefined, undefined]],
])('a limit of memory is found, that of addresses first', (text, expected) => {
  const found = memoryLimit(text);
  expect([found?.name, found?.mebibytes]).toEqual(expected);
});

test.each([
  [
    limits('unlimited', '2048000000'),
    'ADDRESS_SPACE_LIMITED',
    /1953 MiB of address space \(RLIMIT_AS, ulimit -v\), and a rank needs 11718$/,
  ],
  [
    limits('unlimited', '40960000000'),
    'ADDRESS_SPACE_LIMITED',
    /39062 MiB of address space \(RLIMIT_AS, ulimit -v\)$/,
  ],
  [
    limits('524288000', 'unlimited'),
    'DATA_SIZE_LIMITED',
    /500 MiB of data \(RLIMIT_DATA, ulimit -d\)$/,
  ],
])('the error names the limit', (text, code, message) => {
  expect(refusedMemory('rank 3', memoryLimit(text)!)).toMatchObject({
    code,
    message: expect.stringMatching(message) as string,
    next: expect.stringContaining('Remove ulimit') as string,
  });
});

const STACK = '----- Native stack trace -----\n\n 1: 0x9dde61  [gradwire worker x 0]\n';

test.each([
  [
    `\n\n#\n# Fatal process out of memory: Failed to reserve virtual memory for CodeRange\n#\n${STACK}`,
    'Fatal process out of memory: Failed to reserve virtual memory for CodeRange',
  ],
  [
    `<--- Last few GCs --->\n\nFATAL ERROR: Committing semi space failed. Allocation failed - JavaScript heap out of memory\n${STACK}`,
    'FATAL ERROR: Committing semi space failed. Allocation failed - JavaScript heap out of memory',
  ],
  [
    "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n",
    'std::bad_alloc',
  ],
  [
    'node: error while loading shared libraries: libc.so.6: failed to map segment from shared object',
    'failed to map segment from shared object',
  ],
  [`# Fatal error in , line 0\n# Check failed: x.\n${STACK}`, undefined],
  ['', undefined],
])('what a process says as it ends for lack of memory', (stderr, words) => {
  expect(memoryWords(stderr)).toBe(words);
});
