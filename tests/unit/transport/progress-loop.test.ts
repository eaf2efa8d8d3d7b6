/** Who gets the thread while messages are awaited: everybody, and nobody for long. */
import { expect, test } from 'vitest';
import {
  ProgressLoop,
  type Progressing,
} from '../../../src/agent/transport/progress-loop.ts';
import { SpinPause } from '../../../src/agent/transport/spin-pause.ts';
import type { Libc } from '../../../src/agent/transport/libc.ts';
import { ManualClock } from '../manual-clock.ts';

/** What a look at the sockets takes, ms. */
const LOOK_MS = 0.01;

/** A pause on a clock of its own, on which every reading is a look later. */
function pause(place?: number): {
  readonly pause: SpinPause;
  readonly now: () => number;
  readonly yields: () => number;
  readonly moves: number[];
  slow: boolean;
} {
  const time = new ManualClock();
  const now = (): number => {
    time.advance(LOOK_MS);
    return time.now();
  };
  const moves: number[] = [];
  let yields = 0;
  const made = { slow: false, moves, now, yields: () => yields };
  const libc = {
    yield: () => {
      yields++;
      // Something else runs, where it is slow.
      if (made.slow) time.advance(0.02);
    },
    moveToCore: (to: number) => moves.push(to),
  } as unknown as Libc;
  return Object.assign(made, { pause: new SpinPause(libc, place, time.now) });
}

/** A connection on which a receive waits until told otherwise. */
class Waiting implements Progressing {
  awaited = true;
  flushing = false;
  tries = 0;
  moves = false;

  progress(): boolean {
    this.tries++;
    return this.moves;
  }
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
};

/** When it is tried no more: the thread belongs to the event loop again. */
async function rested(connection: Waiting): Promise<number> {
  for (;;) {
    const { tries } = connection;
    await turns(10);
    if (tries > 0 && tries === connection.tries) return tries;
  }
}

test('a loop that spins looks again, then rests, and the event loop turns meanwhile', async () => {
  const { pause: spin, now, yields } = pause();
  const loop = new ProgressLoop(20, spin, now);
  const connection = new Waiting();
  loop.add(connection);
  loop.nudge();
  const seen: number[] = [];
  while (seen.at(-1) !== connection.tries || connection.tries === 0) {
    seen.push(connection.tries);
    await turns(1);
  }
  // Nearly 20 ms of looks, in pieces of about a millisecond.
  expect(connection.tries).toBeGreaterThan(0.4 * (20 / LOOK_MS));
  expect(connection.tries).toBeLessThanOrEqual(20 / LOOK_MS);
  expect(yields()).toBeGreaterThan(0.9 * connection.tries);
  expect(seen.length).toBeGreaterThan(10);
});

test('a loop that does not spin tries once, after the code that posted', async () => {
  const { pause: spin, now, yields } = pause();
  const loop = new ProgressLoop(0, spin, now);
  const connection = new Waiting();
  loop.add(connection);
  loop.nudge();
  loop.nudge();
  expect(connection.tries).toBe(0);
  expect(await rested(connection)).toBe(1);
  expect(yields()).toBe(0);
});

test('connections that nobody waits for are left to the event loop', async () => {
  const { pause: spin, now } = pause();
  const loop = new ProgressLoop(0, spin, now);
  const [busy, quiet] = [new Waiting(), new Waiting()];
  quiet.awaited = false;
  loop.add(busy);
  loop.add(quiet);
  loop.nudge();
  await rested(busy);
  expect(quiet.tries).toBe(0);
});

test('continuations come before the next look', async () => {
  const { pause: spin, now } = pause();
  const loop = new ProgressLoop(1000, spin, now);
  const order: string[] = [];
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const connection: Progressing = {
    awaited: true,
    flushing: false,
    progress: () => {
      order.push('look');
      if (order.length > 2) (connection as { awaited: boolean }).awaited = false;
      loop.completed();
      resolve(undefined);
      return true;
    },
  };
  loop.add(connection);
  // The event loop has just turned, so that the next looks are ticks.
  loop.turned();
  loop.nudge();
  await promise.then(() => order.push('continuation'));
  await turns(5);
  expect(order.slice(0, 3)).toEqual(['look', 'continuation', 'look']);
});

test('bytes that never end let the event loop turn', async () => {
  const { pause: spin, now } = pause();
  const loop = new ProgressLoop(1000, spin, now);
  const connection = new Waiting();
  connection.moves = true;
  loop.add(connection);
  loop.nudge();
  // Without end while bytes come: one turn after another finds that it has been tried.
  while (connection.tries <= 1000) await turns(1);
  connection.awaited = false;
  await rested(connection);
});

test('while Node sends the event loop turns between two looks', async () => {
  const { pause: spin, now } = pause();
  const loop = new ProgressLoop(1000, spin, now);
  const connection = new Waiting();
  connection.flushing = true;
  loop.add(connection);
  loop.turned();
  loop.nudge();
  for (let turn = 1; turn < 20; turn++) {
    await turns(1);
    expect(connection.tries).toBeLessThanOrEqual(turn + 1);
  }
  expect(connection.tries).toBeGreaterThan(10);
  connection.awaited = false;
  await rested(connection);
});

test('a rank whose messages come whenever it yields moves to its core, now and then', () => {
  const caught = pause(1);
  caught.slow = true;
  const meet = (times: number): void => {
    for (let message = 0; message < times; message++) {
      caught.pause.pause(caught.now());
      caught.pause.moved(caught.now());
    }
  };
  meet(8);
  expect(caught.moves).toEqual([1]);
  meet(16);
  expect(caught.moves).toEqual([1]);
  meet(10 / 0.04);
  expect(caught.moves).toEqual([1, 1]);

  const alone = pause(1);
  for (let message = 0; message < 100; message++) {
    alone.pause.pause(alone.now());
    alone.pause.moved(alone.now());
  }
  expect(alone.moves).toEqual([]);

  const crowded = pause(undefined);
  crowded.slow = true;
  for (let message = 0; message < 20; message++) {
    crowded.pause.pause(crowded.now());
    crowded.pause.moved(crowded.now());
  }
  expect(crowded.moves).toEqual([]);
});
