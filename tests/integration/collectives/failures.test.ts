/**
 * What goes wrong between ranks: one named error, on every rank, at once: had they waited
 * for a deadline to find out, the error would be that of the deadline.
 */
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { TransportCommunicator } from '../../../src/agent/collectives/communicator.ts';
import { ring } from '../../../src/agent/collectives/ring.ts';
import { connectMesh } from '../../../src/agent/transport/mesh.ts';
import { listenTcp } from '../../../src/agent/transport/tcp-listener.ts';
import type { MessageHeader } from '../../../src/agent/transport/transport.ts';
import { RankWorld } from '../../../src/agent/world/rank-world.ts';
import { effort } from '../../harness/effort.ts';
import {
  reduceForever,
  SECRET,
  type FromReducer,
  fromReducerSchema,
  type ToReducer,
} from './endless-reducer.ts';
import { isFilledWith } from './run-collective.ts';
import { closesSockets } from './open-sockets.ts';
import {
  HOST,
  makeWorld,
  memoryOf,
  meshOf,
  CARRIERS,
  FEW_CARRIERS,
  type World,
} from './world.ts';

const header: MessageHeader = {
  stream: 1,
  sequence: 4,
  epoch: 2,
  operation: 1,
  dtype: 1,
};

closesSockets();

/** What a promise is rejected with. */
async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

describe.each(effort({ quick: FEW_CARRIERS, soak: CARRIERS }))('%s:', (_, carrier) => {
  const { transport, encrypt } = carrier;

  describe('a message that is not the one expected', () => {
    test.each([
      ['sequence', { sequence: 5 }],
      ['epoch', { epoch: 3 }],
      ['operation', { operation: 2 }],
      ['dtype', { dtype: 4 }],
    ])('in its %s fails all ranks with one error', async (field, more) => {
      await using world = await makeWorld(3, carrier);
      const [a, b, c] = world.transports;
      const failures = [
        rejection(a!.receive(1, header, Buffer.alloc(8))),
        rejection(b!.receive(0, { ...header, ...more }, Buffer.alloc(8))),
        // Not concerned, and told nevertheless.
        rejection(c!.receive(0, header, Buffer.alloc(8))),
      ];
      await b!.send(0, { ...header, ...more }, Buffer.alloc(8));
      for (const error of await Promise.all(failures)) {
        expect(error).toMatchObject({ code: 'PEER_MISMATCH', rank: 1 });
        expect(String(error)).toContain(`rank 1 sent a message with ${field}`);
      }
      await expect(a!.send(2, header, Buffer.alloc(1))).rejects.toMatchObject({
        code: 'PEER_MISMATCH',
      });
    });

    test('in its length, as when ranks disagree on N', async () => {
      await using world = await makeWorld(2, carrier);
      const failures = world.communicators().map((communicator, rank) => {
        const length = 1000 + rank;
        const data = communicator.arena.allocate(4 * length);
        communicator.begin({ epoch: 0, operation: ring.code, dtype: 1 });
        const run = ring.run(communicator, { kind: 'dense', length, data });
        return rejection(run.finally(() => communicator.arena.release(data)));
      });
      for (const error of await Promise.all(failures)) {
        expect(error).toMatchObject({ code: 'PEER_MISMATCH' });
        expect(String(error)).toMatch(/length \d+, rank \d expected \d+/);
      }
    });

    test('is found as well if it came long before its receive', async () => {
      await using world = await makeWorld(2, carrier);
      const [a, b] = world.transports;
      await b!.send(0, header, Buffer.alloc(8));
      await vi.waitUntil(() => a!.socketBytes.received > a!.counters.received);
      await new Promise(setImmediate);
      const failed = rejection(b!.receive(0, header, Buffer.alloc(8)));
      await expect(a!.receive(1, header, Buffer.alloc(7))).rejects.toMatchObject({
        code: 'PEER_MISMATCH',
        message: 'rank 1 sent a message with length 8, rank 0 expected 7',
      });
      expect(await failed).toMatchObject({ code: 'PEER_MISMATCH', rank: 1 });
    });
  });

  describe('a peer', () => {
    test('that is killed in mid-transfer is named by all others at once', async () => {
      const entry = path.join(import.meta.dirname, 'endless-reducer.ts');
      await using victim = new RankWorld<ToReducer, FromReducer>({
        size: 1,
        reports: fromReducerSchema,
        commandOf: () => ({ entry }),
      });
      const { address } = await victim.ask('listening', 0, { type: 'listen' });
      const mesh = await meshOf(transport);
      const listeners = await Promise.all([listenTcp(HOST), listenTcp(HOST)]);
      const addresses = [listeners[0]!.address, address, listeners[1]!.address];
      const order = { type: 'reduce', rank: 1, addresses, ...carrier } as const;
      // It ends by being killed.
      victim.ask('listening', 0, order).catch(() => undefined);
      const transports = await Promise.all(
        listeners.map((listener, index) =>
          connectMesh({
            listener,
            rank: 2 * index,
            addresses,
            runId: 'killed',
            secret: SECRET,
            timeoutMs: 10_000,
            encrypt,
            ...mesh,
          }),
        ),
      );
      let rounds = 0;
      const failures = await Promise.all(
        transports.map((one) => {
          const { arena, wasm: kernels } = memoryOf(one.rank);
          const options = { arena, kernels, transport: one, stream: 0 };
          const communicator = new TransportCommunicator(options);
          const failed = rejection(
            reduceForever(communicator, () => {
              rounds++;
              if (rounds !== 6) return;
              process.kill(victim.pids[0]!, 'SIGKILL');
            }),
          );
          return failed.then(async (error) => {
            // What the exchange does when it fails: tell the others, then go.
            one.abort((error as { toData(): never }).toData());
            await one.close();
            communicator[Symbol.dispose]();
            return error;
          });
        }),
      );
      for (const error of failures) {
        expect(error).toMatchObject({ code: 'PEER_LOST', rank: 1 });
      }
    });

    test('that leaves with nothing expected of it is no error until something is', async () => {
      await using world = await makeWorld(3, carrier);
      const [a, b, c] = world.transports;
      await c!.send(0, header, Buffer.from('last words'));
      await c!.close();
      const into = Buffer.alloc(10);
      await a!.receive(2, header, into);
      expect(into.toString()).toBe('last words');
      // The others go on without it.
      const exchanged = [
        a!.send(1, header, Buffer.alloc(1)),
        b!.receive(0, header, Buffer.alloc(1)),
      ];
      await Promise.all(exchanged);
      await expect(a!.receive(2, header, into)).rejects.toMatchObject({
        code: 'PEER_LOST',
        rank: 2,
      });
      await expect(b!.receive(0, header, into)).rejects.toMatchObject({
        code: 'PEER_LOST',
        rank: 2,
      });
    });

    test('that stays silent is named when the deadline has passed', async () => {
      await using world = await makeWorld(2, { ...carrier, timeoutMs: 500 });
      const [a, b] = world.transports;
      const waiting = rejection(b!.receive(0, header, Buffer.alloc(1)));
      const start = performance.now();
      const error = await rejection(a!.receive(1, header, Buffer.alloc(1)));
      const ms = performance.now() - start;
      expect(error).toMatchObject({
        code: 'PEER_TIMEOUT',
        message: expect.stringMatching(
          /rank [01] has not sent a message for 0.5 s/,
        ) as string,
      });
      // Not before it; how long after is the machine's affair.
      expect(ms).toBeGreaterThan(490);
      expect(await waiting).toMatchObject({ code: 'PEER_TIMEOUT' });
    });

    test('that does not read what it is sent is named too', async () => {
      const limits = { pauseBytes: 0, failBytes: 2 ** 30 };
      await using world = await makeWorld(2, { ...carrier, timeoutMs: 500, limits });
      // More than sockets hold, and rank 1 reads no more than it is asked for.
      const sent = world.transports[0]!.send(1, header, new Uint8Array(64 * 2 ** 20));
      await expect(sent).rejects.toMatchObject({
        code: 'PEER_TIMEOUT',
        rank: 1,
        message: expect.stringContaining('rank 1 has not accepted a message') as string,
      });
    });
  });

  describe('abort', () => {
    const reason = {
      code: 'GRADIENT_NOT_FINITE',
      kind: 'failure',
      message: 'NaN in fc1',
      place: 'rank 1',
      rank: 1,
    } as const;

    test('tells every rank why, with everything pending and everything later', async () => {
      await using world = await makeWorld(3, carrier);
      const [a, b, c] = world.transports;
      const pending = [a, b, c].map((one, rank) =>
        rejection(one!.receive((rank + 1) % 3, header, Buffer.alloc(1))),
      );
      b!.abort(reason);
      b!.abort({ ...reason, message: 'a second one changes nothing' });
      for (const error of await Promise.all(pending)) {
        expect(error).toMatchObject(reason);
      }
      await expect(c!.send(0, header, Buffer.alloc(1))).rejects.toMatchObject(reason);
    });

    test('from two ranks at once leaves each with its own reason, and the third with one', async () => {
      await using world = await makeWorld(3, carrier);
      const [a, b, c] = world.transports;
      const other = { ...reason, message: 'NaN in fc2', place: 'rank 0', rank: 0 };
      const pending = [a, b, c].map((one, rank) =>
        rejection(one!.receive((rank + 1) % 3, header, Buffer.alloc(1))),
      );
      a!.abort(other);
      b!.abort(reason);
      const [ofA, ofB, ofC] = await Promise.all(pending);
      expect(ofA).toMatchObject(other);
      expect(ofB).toMatchObject(reason);
      expect([reason.message, other.message]).toContain((ofC as Error).message);
      await Promise.all(world.transports.map((one) => one.close()));
    });

    test('comes before the end of the connection', async () => {
      await using world = await makeWorld(2, carrier);
      const [a, b] = world.transports;
      const pending = rejection(a!.receive(1, header, Buffer.alloc(1)));
      b!.abort(reason);
      await b!.close();
      expect(await pending).toMatchObject(reason);
    });

    test('is counted as framing', async () => {
      await using world = await makeWorld(2, carrier);
      const [a, b] = world.transports;
      const pending = rejection(a!.receive(1, header, Buffer.alloc(1)));
      b!.abort(reason);
      await pending;
      expect(a!.counters.received).toBe(a!.counters.framingReceived);
      expect(b!.counters.sent).toBe(b!.counters.framingSent);
      expect(a!.counters.received).toBe(b!.counters.sent);
    });
  });

  describe('close', () => {
    test('delivers what has been sent, and ends what is pending', async () => {
      await using world = await makeWorld(2, carrier);
      const [a, b] = world.transports;
      const data = new Uint8Array(8 * 2 ** 20).fill(7);
      const into = new Uint8Array(data.length);
      const pending = rejection(a!.receive(1, { ...header, stream: 9 }, into));
      const sent = a!.send(1, header, data).catch(() => undefined);
      const closed = a!.close();
      expect(a!.close()).toBe(closed);
      await b!.receive(0, header, into);
      await Promise.all([sent, closed]);
      expect(isFilledWith(7, into)).toBe(true);
      expect(await pending).toMatchObject({ code: 'ABORTED' });
      await expect(a!.send(1, header, data)).rejects.toMatchObject({ code: 'ABORTED' });
    });
  });

  describe('unrequested messages', () => {
    const piece = new Uint8Array(2 ** 20);

    /** Rank 0 sends pieces on a stream that rank 1 does not read. */
    async function flood(world: World, pieces: number): Promise<void> {
      for (let index = 0; index < pieces; index++) {
        await world.transports[0]!.send(1, header, piece);
      }
    }

    test('stay with the sender beyond the limit, and come when requested', async () => {
      const limits = { pauseBytes: 4 * 2 ** 20, failBytes: 2 ** 30 };
      await using world = await makeWorld(2, { ...carrier, limits });
      const [, receiver] = world.transports;
      let done = false;
      const flooding = flood(world, 64).then(() => (done = true));
      // Asked for, but behind all that: it must come through all the same.
      const late = { ...header, stream: 2 };
      await vi.waitUntil(() => receiver!.socketBytes.received > limits.pauseBytes);
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
      expect(done).toBe(false);
      expect(receiver!.socketBytes.received).toBeLessThan(32 * 2 ** 20);
      const behind = receiver!.receive(0, late, Buffer.alloc(3));
      await flooding;
      await world.transports[0]!.send(1, late, Buffer.from('end'));
      await behind;
      const into = new Uint8Array(piece.length);
      for (let index = 0; index < 64; index++) await receiver!.receive(0, header, into);
    });

    test('ends the run where it has no end', async () => {
      const limits = { pauseBytes: 2 ** 20, failBytes: 8 * 2 ** 20 };
      await using world = await makeWorld(2, { ...carrier, limits });
      const waiting = rejection(
        world.transports[1]!.receive(0, { ...header, stream: 2 }, Buffer.alloc(3)),
      );
      const error = await rejection(flood(world, 256));
      expect(error).toMatchObject({ code: 'FRAME_BACKLOG', rank: 0 });
      expect(await waiting).toMatchObject({ code: 'FRAME_BACKLOG', rank: 0 });
    });
  });
});
