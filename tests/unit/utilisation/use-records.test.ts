/** Records of a machine's samples, wherever these are made. */
import { expect, test } from 'vitest';
import type { UseReading } from '../../../src/agent/supervisor/utilisation/use-interval.ts';
import { UseRecords } from '../../../src/agent/supervisor/utilisation/use-records.ts';
import type { UtilisationRecord } from '../../../src/shared/records/utilisation.ts';

const reading = (at: number): UseReading => ({
  at,
  own: 0,
  machine: { processors: { busy: at } },
  ranks: new Map([[2, { busy: at / 2, memory: 10 }]]),
});

function records(iteration: () => number, begun = Date.now()) {
  const told: UtilisationRecord[] = [];
  const processes = new Map([[2, 7]]);
  const made = new UseRecords({
    node: 'n1',
    begun,
    processes,
    iteration,
    told: (record) => told.push(record),
  });
  return { made, told };
}

test('each interval begins where the one before ended; a late timer makes none', () => {
  let iteration = 0;
  const { made, told } = records(() => iteration);
  // A clock of another machine begins anywhere.
  for (const at of [5000, 6000, 6001, 7000]) {
    made.add(4, reading(at));
    iteration += 10;
  }
  made.close();
  const ranks = [{ rank: 2, busy: 0.5, memory: 10 }];
  expect(told).toMatchObject([
    {
      node: 'n1',
      from: 0,
      to: 10,
      wall: 1000,
      ranks,
      processors: { count: 4, busy: 1 },
    },
    { node: 'n1', from: 10, to: 30, wall: 1000, ranks },
  ]);
  expect(told).toHaveLength(2);
});

test('what is known of the last interval is told at its close, once', () => {
  // So old that an interval takes two seconds.
  const { made, told } = records(() => 1, Date.now() - 200_000);
  made.close();
  made.add(1, reading(0));
  made.addGpu({ bus: '0:1', name: 'card', busy: 0.5 });
  made.add(1, reading(1000));
  expect(told).toEqual([]);
  made.close();
  made.close();
  expect(told).toMatchObject([
    { from: 1, to: 2, wall: 1000, gpus: [{ bus: '0:1', name: 'card', busy: 0.5 }] },
  ]);
});

test('a single reading is no interval', () => {
  const { made, told } = records(() => 1);
  made.add(1, reading(0));
  made.close();
  expect(told).toEqual([]);
});
