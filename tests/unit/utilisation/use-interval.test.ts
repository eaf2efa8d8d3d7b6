import { expect, test } from 'vitest';
import { gpuReading } from '../../../src/agent/supervisor/utilisation/gpu-readings.ts';
import {
  UseInterval,
  type UseReading,
} from '../../../src/agent/supervisor/utilisation/use-interval.ts';
import { readingsAt } from '../../../src/agent/supervisor/utilisation/use-records.ts';

const reading = (
  at: number,
  busy: number,
  ranks: UseReading['ranks'] = new Map(),
): UseReading => ({
  at,
  own: at / 100,
  ranks,
  machine: {
    processors: { busy, stolen: 0 },
    memory: { total: 1000, used: at === 1000 ? 700 : 300 },
    network: { sent: 3 * at, received: at, loopback: 0 },
  },
});

test('means over the time, the most of memory, and the busiest second', () => {
  const family = (busy: number, memory: number) => ({ busy, memory });
  const interval = new UseInterval(4, reading(0, 0, new Map([[0, family(0, 50)]])));
  // Rank 1 is seen from the second reading on, rank 0 is gone after it.
  const both = [
    [0, family(900, 60)],
    [1, family(100, 10)],
  ] as const;
  interval.add(reading(1000, 3000, new Map(both)));
  interval.add(reading(2000, 4000, new Map([[1, family(300, 9)]])));
  for (const [busy, memory] of [
    ['40', '[N/A]'],
    ['60', '1024'],
    ['[N/A]', '512'],
  ]) {
    const line = `00000000:3B:00.0, NVIDIA H100, ${busy}, ${memory}, 81559`;
    interval.addGpu(gpuReading(line)!);
  }
  expect(interval.measured([0, 1, 2])).toEqual({
    wall: 2000,
    processors: { count: 4, busy: 2, peak: 3, own: 0.01, stolen: 0 },
    memory: { total: 1000, used: 700 },
    network: { sent: 3000, received: 1000, loopback: 0 },
    gpus: [
      {
        bus: '00000000:3B:00.0',
        name: 'NVIDIA H100',
        busy: 0.5,
        memory: 2 ** 30,
        total: 81559 * 2 ** 20,
      },
    ],
    ranks: [
      { rank: 0, busy: 0.45, memory: 60 },
      { rank: 1, busy: 0.1, memory: 10 },
      { rank: 2 },
    ],
  });
});

test('no rank has used more than the machine', () => {
  const before = new Map([[0, { busy: 10, memory: 1 }]]);
  const interval = new UseInterval(2, reading(0, 0, before));
  interval.add(reading(500, 600, new Map([[0, { busy: 5000, memory: 1 }]])));
  expect(interval.measured([0]).ranks).toEqual([{ rank: 0, busy: 1.2, memory: 1 }]);
});

test('what is not known is absent', () => {
  const nothing: UseReading = { at: 0, own: 0, ranks: new Map(), machine: {} };
  const interval = new UseInterval(2, nothing);
  interval.add({ ...nothing, at: 500 });
  expect(interval.measured([])).toEqual({ wall: 500, ranks: [] });
});

test.each([
  'No devices were found',
  'NVIDIA-SMI has failed because it could not communicate, with, the, NVIDIA, driver',
  '00000000:3B:00.0, NVIDIA H100, 40, 512',
  '',
])('%j is no reading of a GPU', (line) => {
  expect(gpuReading(line)).toBeUndefined();
});

test('intervals double with the age of a run, so that a month has some thousand', () => {
  const lengthsFrom = (seconds: number): number => readingsAt(1000 * seconds);
  expect([-5, 0, 159, 160, 479, 480].map(lengthsFrom)).toEqual([1, 1, 1, 2, 2, 4]);
  expect(lengthsFrom(1e12)).toBe(4096);
  const recordsOf = (seconds: number): number => {
    let [age, records] = [0, 0];
    for (; age < seconds; records++) age += lengthsFrom(age);
    return records;
  };
  expect(recordsOf(600)).toBeLessThan(400);
  expect(recordsOf(7 * 86_400)).toBeLessThan(2000);
  expect(recordsOf(30 * 86_400)).toBeLessThan(2500);
});
