/**
 * A rank that is dead is named at once, one that is stopped after 3 s, one that computes
 * never. By what an error says one can tell which of them found it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  test,
} from 'vitest';
import { connectMesh, type MeshOptions } from '../../../src/agent/transport/mesh.ts';
import { MeshSeat } from '../../../src/agent/transport/mesh-seat.ts';
import { listenTcp } from '../../../src/agent/transport/tcp-listener.ts';
import { effort } from '../../harness/effort.ts';
import { here, LivelyWorld } from './lively-world.ts';
import { openSockets } from './open-sockets.ts';
import { HOST, TRANSPORT_KINDS, type TransportKind } from './world.ts';

const pick = ({
  listener,
  pulse,
}: MeshSeat): Pick<MeshOptions, 'listener' | 'pulse'> => ({
  listener,
  pulse,
});

/** Long enough that a busy machine does not keep a rank's pulse from beating. */
const SILENCE_MS = 3000;
/** Surely beyond it. */
const BEYOND_MS = 1.5 * SILENCE_MS;

const transports = effort<readonly TransportKind[]>({
  quick: ['native'],
  soak: TRANSPORT_KINDS,
});

describe('of three ranks', () => {
  let world: LivelyWorld;
  let isWhole = false;
  beforeEach(() => {
    if (!isWhole) world = new LivelyWorld(here(3));
    isWhole = true;
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test.each(transports)(
    '%s: a process that is stopped is named by all others, by its silence',
    async (transport) => {
      await world.join({ transport });
      const [first, second, third] = await world.reduceForever();
      world.ranks[1]!.kill('SIGSTOP');
      for (const error of await Promise.all([first!, third!])) {
        expect(error).toMatchObject({ code: 'PEER_SILENT', rank: 1 });
        expect(error.message).toMatch(
          /^rank 1 sent rank [02] no sign of life within 3 s$/,
        );
      }
      world.ranks[1]!.kill('SIGCONT');
      // It learns of its end, and may be among them again.
      await second;
      await world.leave();
    },
  );

  test.each(transports)(
    '%s: a process that is killed is named at once, as before',
    async (transport) => {
      const [, victim] = world.ranks;
      await world.join({ transport });
      const [first, , third] = await world.reduceForever();
      victim!.kill('SIGKILL');
      for (const error of await Promise.all([first!, third!])) {
        expect(error).toMatchObject({ code: 'PEER_LOST', rank: 1 });
      }
      await world[Symbol.asyncDispose]();
      isWhole = false;
    },
  );
});

describe('of two ranks', () => {
  let world: LivelyWorld;
  beforeAll(() => {
    world = new LivelyWorld(here(2));
  });
  afterEach(() => world.leave());
  afterAll(() => world[Symbol.asyncDispose]());

  test(
    'one whose thread computes beyond the limit is waited for',
    { tags: 'soak' },
    async () => {
      await world.join({ transport: 'native', silenceMs: SILENCE_MS });
      const waiting = world.order(0, { do: 'reduce', collective: 'ring', length: 10 });
      expect(await world.order(1, { do: 'compute', ms: BEYOND_MS })).toEqual({
        did: 'compute',
      });
      const own = await world.order(1, {
        do: 'reduce',
        collective: 'ring',
        length: 10,
      });
      expect(own).toMatchObject({ did: 'reduce' });
      expect(await waiting).toEqual(own);
    },
  );

  test('a pause while no rank expects anything has no effect', async () => {
    await world.join({ transport: 'tcp', silenceMs: SILENCE_MS });
    world.ranks[1]!.kill('SIGSTOP');
    await world.order(0, { do: 'await signs', of: 1, silent: true });
    world.ranks[1]!.kill('SIGCONT');
    await world.order(0, { do: 'await signs', of: 1, silent: false });
    const sums = await world.all(() => ({
      do: 'reduce',
      collective: 'ring',
      length: 10,
    }));
    expect(sums[0]).toMatchObject({ did: 'reduce' });
    expect(sums[1]).toEqual(sums[0]);
  });

  test(
    'both stood still, as on a laptop that slept: they go on',
    { tags: 'soak' },
    async () => {
      await world.join({ transport: 'tcp', silenceMs: SILENCE_MS });
      const waiting = world.order(0, { do: 'reduce', collective: 'ring', length: 10 });
      for (const child of world.ranks) child.kill('SIGSTOP');
      // Nothing happens meanwhile that could be waited for: that is what is tested.
      await sleep(BEYOND_MS);
      for (const child of world.ranks) child.kill('SIGCONT');
      const own = await world.order(1, {
        do: 'reduce',
        collective: 'ring',
        length: 10,
      });
      expect(await waiting).toEqual(own);
    },
  );
});

describe('a seat whose mesh does not come about leaves nothing open', () => {
  const run = { runId: 'run', secret: Buffer.alloc(32, 1), timeoutMs: 300 };

  test('where a rank stays away', async () => {
    const seats = await Promise.all([MeshSeat.listen(HOST), MeshSeat.listen(HOST)]);
    const addresses = seats.map(({ address }) => address);
    const joining = connectMesh({ ...run, ...pick(seats[0]!), rank: 0, addresses });
    await expect(joining).rejects.toMatchObject({ code: 'PEER_TIMEOUT', rank: 1 });
    await seats[1]!.close();
    await expect.poll(openSockets).toEqual([]);
  });

  test('where a rank gives no signs of life', async () => {
    const seat = await MeshSeat.listen(HOST);
    const other = await listenTcp(HOST);
    // It is found by what is said, not by the deadline.
    const timeoutMs = 10_000;
    const addresses = [seat.address, other.address];
    const joining = Promise.allSettled([
      connectMesh({ ...run, timeoutMs, ...pick(seat), rank: 0, addresses }),
      connectMesh({ ...run, timeoutMs, listener: other, rank: 1, addresses }),
    ]);
    const [first, second] = await joining;
    expect(first).toMatchObject({ reason: { code: 'PEER_UNREACHABLE', rank: 1 } });
    if (second.status === 'fulfilled') await second.value.close();
    await expect.poll(openSockets).toEqual([]);
  });

  test('where there is nobody else', async () => {
    const seat = await MeshSeat.listen(HOST);
    const addresses = [seat.address];
    const alone = await connectMesh({ ...run, ...pick(seat), rank: 0, addresses });
    await expect.poll(openSockets).toEqual([]);
    await alone.close();
  });
});
