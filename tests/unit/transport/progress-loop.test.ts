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

/** A connection on which an operation waits until told otherwise. */
class Waiting implements Progressing {
  awaited = true;
  tries = 0;
  rests = 0;
  moves = false;

  progress(): boolean {
    this.tries++;
    return this.moves;
  }

  rest(): void {
    this.rests++;
  }
}

test('a loop that spins looks again, then rests, and timers fire meanwhile', async () => {
  const { pause: spin, yields } = pause();
  const loop = new ProgressLoop(5, spin);
  const connection = new Waiting();
  loop.add(connection);
  let fired = 0;
  const timer = setInterval(() => fired++, 1);
  loop.nudge();
  await vi.waitUntil(() => connection.rests > 0);
  clearInterval(timer);
  expect(connection.tries).toBeGreaterThan(10);
  expect(yields()).toBeGreaterThan(10);
  expect(fired).toBeGreaterThan(0);
  const { tries } = connection;
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  expect(connection.tries).toBe(tries);
});

test('a loop that does not spin tries once', async () => {
  const { pause: spin, yields } = pause();
  const loop = new ProgressLoop(0, spin);
  const connection = new Waiting();
  loop.add(connection);
  loop.nudge();
  loop.nudge();
  expect(connection.tries).toBe(0);
  await vi.waitUntil(() => connection.rests > 0);
  expect(connection.tries).toBe(1);
  expect(yields()).toBe(0);
});

test('connections that nobody waits for are tried too when the system calls', async () => {
  const { pause: spin } = pause();
  const loop = new ProgressLoop(0, spin);
  const quiet = new Waiting();
  quiet.awaited = false;
  loop.add(quiet);
  loop.wake();
  loop.wake();
  await vi.waitUntil(() => quiet.rests === 1);
  expect(quiet.tries).toBe(1);
});

test('bytes that never end let the event loop turn', async () => {
  const { pause: spin } = pause();
  const loop = new ProgressLoop(1000, spin);
  const connection = new Waiting();
  connection.moves = true;
  loop.add(connection);
  loop.nudge();
  for (let turn = 0; turn < 20; turn++)
    await new Promise((done) => setTimeout(done, 1));
  expect(connection.tries).toBeGreaterThan(100);
  connection.awaited = false;
  await vi.waitUntil(() => connection.rests > 0);
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
