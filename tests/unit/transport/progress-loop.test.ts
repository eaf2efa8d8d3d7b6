/** Who gets the thread while messages are awaited: everybody, and nobody for long. */
import { expect, test, vi } from 'vitest';
import {
  ProgressLoop,
  type Progressing,
} from '../../../src/agent/transport/progress-loop.ts';
import { SpinPause } from '../../../src/agent/transport/spin-pause.ts';
import type { Libc } from '../../../src/agent/transport/libc.ts';

function pause(place?: number): {
  readonly pause: SpinPause;
  readonly yields: () => number;
  readonly moves: number[];
  slow: boolean;
} {
  const moves: number[] = [];
  let yields = 0;
  const made = { slow: false, moves, yields: () => yields, pause: undefined as never };
  const libc = {
    yield: () => {
      yields++;
      const until = performance.now() + (made.slow ? 0.02 : 0);
      while (performance.now() < until);
    },
    moveToCore: (to: number) => moves.push(to),
  } as unknown as Libc;
  return Object.assign(made, { pause: new SpinPause(libc, place) });
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

test('a loop that spins looks again, then rests, and timers fire meanwhile', async () => {
  const { pause: spin, yields } = pause();
  const loop = new ProgressLoop(20, spin);
  const connection = new Waiting();
  loop.add(connection);
  let tries: number | undefined;
  const timer = setInterval(() => {
    tries ??= connection.tries;
  }, 1);
  loop.nudge();
  const all = await rested(connection);
  clearInterval(timer);
  expect(all).toBeGreaterThan(10);
  expect(yields()).toBeGreaterThan(10);
  // In the midst of it, not after it.
  expect(tries).toBeLessThan(all);
});

test('a loop that does not spin tries once, after the code that posted', async () => {
  const { pause: spin, yields } = pause();
  const loop = new ProgressLoop(0, spin);
  const connection = new Waiting();
  loop.add(connection);
  loop.nudge();
  loop.nudge();
  expect(connection.tries).toBe(0);
  expect(await rested(connection)).toBe(1);
  expect(yields()).toBe(0);
});

test('connections that nobody waits for are left to the event loop', async () => {
  const { pause: spin } = pause();
  const loop = new ProgressLoop(0, spin);
  const [busy, quiet] = [new Waiting(), new Waiting()];
  quiet.awaited = false;
  loop.add(busy);
  loop.add(quiet);
  loop.nudge();
  await rested(busy);
  expect(quiet.tries).toBe(0);
});

test('continuations come before the next look', async () => {
  const { pause: spin } = pause();
  const loop = new ProgressLoop(1000, spin);
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
  const { pause: spin } = pause();
  const loop = new ProgressLoop(1000, spin);
  const connection = new Waiting();
  connection.moves = true;
  loop.add(connection);
  loop.nudge();
  await vi.waitUntil(() => connection.tries > 1000);
  connection.awaited = false;
  await rested(connection);
});

test('while Node sends the event loop turns between two looks', async () => {
  const { pause: spin } = pause();
  const loop = new ProgressLoop(1000, spin);
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
      caught.pause.pause(performance.now());
      caught.pause.moved(performance.now());
    }
  };
  meet(8);
  expect(caught.moves).toEqual([1]);
  meet(16);
  expect(caught.moves).toEqual([1]);

  const alone = pause(1);
  for (let message = 0; message < 100; message++) {
    alone.pause.pause(performance.now());
    alone.pause.moved(performance.now());
  }
  expect(alone.moves.length).toBeLessThan(2);

  const crowded = pause(undefined);
  crowded.slow = true;
  for (let message = 0; message < 20; message++) {
    crowded.pause.pause(performance.now());
    crowded.pause.moved(performance.now());
  }
  expect(crowded.moves).toEqual([]);
});
