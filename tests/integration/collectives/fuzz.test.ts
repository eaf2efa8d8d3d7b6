/**
 * A peer that has proved its membership and then talks nonsense: whatever it sends ends
 * in one coded error, and the transport closes as any other. One that only says what
 * nobody asked for does not hurt the others' run.
 */
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { GradwireError } from '../../../src/shared/errors/errors.ts';
import { FrameSealer } from '../../../src/agent/transport/frame-seal.ts';
import { connectMesh } from '../../../src/agent/transport/mesh.ts';
import { linkMesh } from '../../../src/agent/transport/mesh-links.ts';
import {
  encodeFrameHeader,
  FRAME_HEADER_BYTES,
} from '../../../src/agent/transport/message-frame.ts';
import type { MeshTransport } from '../../../src/agent/transport/mesh-transport.ts';
import { listenTcp } from '../../../src/agent/transport/tcp-listener.ts';
import { effort, seed } from '../../harness/effort.ts';
import { liveMemory } from '../../harness/live-memory.ts';
import { generator } from './run-collective.ts';
import { closesSockets } from './open-sockets.ts';
import { CARRIERS, FEW_CARRIERS, HOST, meshOf, type WorldOptions } from './world.ts';

const header = { stream: 1, sequence: 3, epoch: 0, operation: 1, dtype: 1 };

closesSockets();

/** Frames that are noise, nearly right, or right in all but one field or their length. */
function randomFrame(random: () => number): Buffer {
  const below = (limit: number): number => Math.floor(limit * random());
  if (random() < 0.2) return randomBytes(1 + below(200));
  const body = randomBytes(below(64));
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + body.length);
  const kind = random() < 0.2 ? 'abort' : 'data';
  const fields = random() < 0.5 ? header : { ...header, stream: below(4) };
  encodeFrameHeader(
    frame,
    kind,
    fields,
    body.length + (random() < 0.2 ? below(50) : 0),
  );
  frame.set(body, FRAME_HEADER_BYTES);
  if (random() < 0.5) frame[below(FRAME_HEADER_BYTES)]! ^= 1 << below(8);
  return frame;
}

interface Meeting {
  /** Ranks 0 … that behave. */
  readonly transports: readonly MeshTransport[];
  /** The last rank's sockets to them, by rank; the last rank is the test. */
  readonly sockets: readonly Socket[];
  /** A frame as the last rank would send it to rank 0: sealed, where that is done. */
  readonly sealed: (frame: Buffer) => Buffer;
}

/** Ranks that behave and, as the last, one that has the secret and no manners. */
async function meet(good: number, carrier: WorldOptions): Promise<Meeting> {
  const { transport: kind, ...options } = carrier;
  if (typeof kind !== 'string') throw new Error('one kind of transport');
  const mesh = await meshOf(kind);
  const ranks = [...Array(good + 1).keys()];
  const listeners = await Promise.all(ranks.map(() => listenTcp(HOST)));
  const run = {
    addresses: listeners.map(({ address }) => address),
    runId: 'fuzz',
    secret: randomBytes(32),
    timeoutMs: 60_000,
    ...options,
  };
  const linking = linkMesh({ ...run, listener: listeners[good]!, rank: good });
  const transports = await Promise.all(
    ranks
      .slice(0, good)
      .map((rank) =>
        connectMesh({ ...run, ...mesh, listener: listeners[rank]!, rank }),
      ),
  );
  const links = (await linking).sort((a, b) => a.peer - b.peer);
  const { keys } = links[0]!;
  const sealer = keys && new FrameSealer(keys.send);
  return {
    transports,
    sockets: links.map(({ socket }) => socket),
    sealed: (frame) => {
      if (sealer === undefined || frame.length < FRAME_HEADER_BYTES) return frame;
      const first = frame.subarray(0, FRAME_HEADER_BYTES);
      const body = frame.subarray(FRAME_HEADER_BYTES);
      const pieces = [first, sealer.header(first)];
      if (body.length > 0) pieces.push(...sealer.chunk(body));
      return Buffer.concat(pieces);
    },
  };
}

const carriers = effort({ quick: FEW_CARRIERS, soak: CARRIERS });
const FRAMES = effort({ quick: 1000, soak: 100_000 });

test.each(carriers)(
  '%s: random frames from an authenticated peer',
  async (_, carrier) => {
    const random = generator(seed);
    const codes = new Map<string, number>();
    let before = 0;
    for (let frames = 0; frames < FRAMES;) {
      // Of the first tenth, what grows once is no growth.
      if (before === 0 && frames >= FRAMES / 10) before = await liveMemory();
      const { transports, sockets, sealed } = await meet(1, carrier);
      const [transport] = transports;
      const pending = Promise.allSettled(
        [1, 1, 2, 3].map((stream) =>
          transport!.receiveSized(1, { ...header, stream }, 64, (length) =>
            Buffer.alloc(length),
          ),
        ),
      );
      const [socket] = sockets;
      const some = 1 + Math.floor(10 * random());
      for (let index = 0; index < some; index++) {
        const frame = randomFrame(random);
        // Under encryption, mostly what a rank gone mad would send, which has the keys.
        socket!.write(random() < 0.9 ? sealed(frame) : frame);
      }
      frames += some;
      socket!.end();
      socket!.resume();
      for (const result of await pending) {
        if (result.status === 'fulfilled') continue;
        expect(result.reason).toBeInstanceOf(GradwireError);
        const { code, rank } = result.reason as GradwireError;
        expect(rank).toBe(1);
        codes.set(code, (codes.get(code) ?? 0) + 1);
      }
      await transport!.close();
      socket!.destroy();
    }
    const known = [
      'FRAME_INVALID',
      'FRAME_TOO_LARGE',
      'FRAME_VERSION_MISMATCH',
      'PEER_LOST',
      'PEER_MISMATCH',
      ...(carrier.encrypt === true ? ['PEER_TAMPERED'] : []),
    ];
    // All of them, or the frames were not random enough; and no others.
    expect([...codes.keys()].sort()).toEqual(known);
    expect((await liveMemory()) - before).toBeLessThan(2 ** 20);
  },
);

test.each(carriers)(
  '%s: messages that nobody asked for: the others go on, and none is lost',
  async (_, carrier) => {
    const { transports, sockets, sealed } = await meet(2, carrier);
    const [a, b] = transports;
    const body = Buffer.alloc(24, 7);
    const random = generator(12);
    let rounds = 0;
    for (let index = 0; index < FRAMES; index++) {
      const bytes = index % 2 === 0 ? 0 : body.length;
      const frame = Buffer.alloc(FRAME_HEADER_BYTES + bytes, 7);
      const stream = 100 + Math.floor(2 ** 31 * random());
      encodeFrameHeader(frame, 'data', { ...header, stream }, bytes);
      sockets[0]!.write(sealed(frame));
      if (index % 100 > 0) continue;
      const into = [Buffer.alloc(8), Buffer.alloc(8)] as const;
      await Promise.all([
        a!.send(1, header, Buffer.alloc(8, 1)),
        b!.send(0, header, Buffer.alloc(8, 2)),
        a!.receive(1, header, into[0]),
        b!.receive(0, header, into[1]),
      ]);
      expect([into[0][7], into[1][7]]).toEqual([2, 1]);
      rounds++;
    }
    expect(rounds).toBe(FRAMES / 100);
    await Promise.all(transports.map((transport) => transport.close()));
    for (const socket of sockets) socket.destroy();
  },
);

test.each(carriers)(
  '%s: messages without bytes, without end, are as many as memory allows, not more',
  async (_, carrier) => {
    const limits = { pauseBytes: 2 ** 18, failBytes: 2 ** 20 };
    const { transports, sockets, sealed } = await meet(1, { ...carrier, limits });
    const [transport] = transports;
    const [socket] = sockets;
    const waiting = transport!.receive(1, header, Buffer.alloc(8));
    const failed = expect(waiting).rejects.toMatchObject({
      code: 'FRAME_BACKLOG',
      rank: 1,
    });
    let ended = false;
    void failed.finally(() => (ended = true));
    socket!.on('error', () => socket!.destroy());
    socket!.resume();
    const frame = Buffer.alloc(FRAME_HEADER_BYTES);
    let sent = 0;
    while (!ended && sent < 1_000_000) {
      for (let index = 0; index < 100; index++) {
        encodeFrameHeader(frame, 'data', { ...header, stream: 2 + sent++ }, 0);
        socket!.write(sealed(Buffer.from(frame)));
      }
      await new Promise(setImmediate);
    }
    await failed;
    expect(sent).toBeLessThan(1_000_000);
    await transport!.close();
    socket!.destroy();
  },
);
