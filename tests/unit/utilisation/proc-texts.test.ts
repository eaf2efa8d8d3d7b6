import { expect, test } from 'vitest';
import {
  bytesOf,
  interfaceBytes,
  listedNumbers,
  processNumbers,
  processorTimes,
  processTime,
} from '../../../src/shared/machines/proc-texts.ts';

const STAT = `cpu  30 0 30 900 0 0 0 6 0 0
cpu0 10 2 10 300 7 1 1 2 5 0
cpu1 20 0 20 600 0 0 0 4
intr 1 2 3
ctxt 5
`;

test('busy time of the processors that may be used, without waiting for disks', () => {
  expect(processorTimes(STAT)).toEqual({ busy: 640, stolen: 60 });
  expect(processorTimes(STAT, new Set([1, 7]))).toEqual({ busy: 400, stolen: 40 });
  expect(processorTimes('')).toEqual({ busy: 0, stolen: 0 });
});

test('times of a process, whatever its name is', () => {
  const stat = `7 (a) b (c) S 3 ${'0 '.repeat(9)}10 20 30 40 20 0`;
  expect(processNumbers(stat)[0]).toBe(3);
  expect(processTime(processNumbers(stat))).toBe(1000);
});

test('lists of processors, sizes and interfaces', () => {
  expect([...listedNumbers('0-2,8\n')]).toEqual([0, 1, 2, 8]);
  expect([...listedNumbers('')]).toEqual([]);
  expect(bytesOf('MemTotal:  10 kB\nMemAvailable: 4 kB\n', 'MemAvailable')).toBe(4096);
  expect(bytesOf('MemTotal:  10 kB\n', 'Total')).toBeUndefined();
  const dev = `Inter-|   Receive  |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets
    lo: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0
  eth0:4561 1 0 0 0 0 0 0 1144 9 0 0 0 0 0 0
`;
  expect([...interfaceBytes(dev)]).toEqual([
    ['lo', { received: 5, sent: 5 }],
    ['eth0', { received: 4561, sent: 1144 }],
  ]);
});
