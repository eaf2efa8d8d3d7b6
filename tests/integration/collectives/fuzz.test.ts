/**
 * A peer that has proved its membership and then talks nonsense: whatever it sends ends
 * in one coded error, and the transport closes as any other.
 */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { GradwireError } from '../../../src/shared/errors.ts';
import { connectMesh } from '../../../src/agent/transport/mesh.ts';
import { linkMesh } from '../../../src/agent/transport/mesh-links.ts';
import { encodeFrameHeader } from '../../../src/agent/transport/message-frame.ts';
import { listenTcp } from '../../../src/agent/transport/tcp-listener.ts';
import { generator } from './run-collective.ts';
import { HOST, meshOf, openSockets, TRANSPORT_KINDS } from './world.ts';

const header = { stream: 1, sequence: 3, epoch: 0, operation: 1, dtype: 1 };

/** Frames that are noise, nearly right, or right in all but one field or their length. */
function randomFrame(random: () => number): Buffer {
  const below = (limit: number): number => Math.floor(limit * random());
  if (random() < 0.2) return randomBytes(1 + below(200));
  const body = randomBytes(below(64));
  const frame = Buffer.alloc(32 + body.length);
  const kind = random() < 0.2 ? 'abort' : 'data';
  const fields = random() < 0.5 ? header : { ...header, stream: below(4) };
  encodeFrameHeader(
    frame,
    kind,
    fields,
    body.length + (random() < 0.2 ? below(50) : 0),
  );
  frame.set(body, 32);
  if (random() < 0.5) frame[below(32)]! ^= 1 << below(8);
  return frame;
}

test.each(TRANSPORT_KINDS)(
  '%s: a thousand random frames from an authenticated peer',
  async (kind) => {
    const mesh = await meshOf(kind);
    const random = generator(11);
    const codes = new Map<string, number>();
    let frames = 0;
    while (frames < 1000) {
      const listeners = await Promise.all([listenTcp(HOST), listenTcp(HOST)]);
      const addresses = listeners.map(({ address }) => address);
      const run = {
        addresses,
        runId: 'fuzz',
        secret: randomBytes(32),
        timeoutMs: 5000,
      };
      const [transport, links] = await Promise.all([
        connectMesh({ ...run, ...mesh, listener: listeners[0]!, rank: 0 }),
        linkMesh({ ...run, listener: listeners[1]!, rank: 1 }),
      ]);
      const pending = Promise.allSettled(
        [1, 1, 2, 3].map((stream) =>
          transport.receiveSized(1, { ...header, stream }, 64, (length) =>
            Buffer.alloc(length),
          ),
        ),
      );
      const { socket } = links[0]!;
      const some = 1 + Math.floor(10 * random());
      for (let index = 0; index < some; index++) socket.write(randomFrame(random));
      frames += some;
      socket.end();
      socket.resume();
      for (const result of await pending) {
        if (result.status === 'fulfilled') continue;
        expect(result.reason).toBeInstanceOf(GradwireError);
        const { code, rank } = result.reason as GradwireError;
        expect(rank).toBe(1);
        codes.set(code, (codes.get(code) ?? 0) + 1);
      }
      await transport.close();
      socket.destroy();
    }
    const known = [
      'FRAME_INVALID',
      'FRAME_TOO_LARGE',
      'FRAME_VERSION_MISMATCH',
      'PEER_LOST',
      'PEER_MISMATCH',
    ];
    // All of them, or the frames were not random enough; and no others.
    expect([...codes.keys()].sort()).toEqual(known);
    await expect.poll(openSockets).toEqual([]);
  },
);
