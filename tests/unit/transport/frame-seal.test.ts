/** Sealed frames: what opens is what was sealed, whole and in order; nothing else opens. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { GradwireError } from '../../../src/shared/errors/errors.ts';
import { deriveKeys } from '../../../src/agent/transport/connection-keys.ts';
import type { FrameSink } from '../../../src/agent/transport/frame-reader.ts';
import {
  CHUNK_BYTES,
  FrameOpener,
  sealedFraming,
} from '../../../src/agent/transport/frame-seal.ts';
import { SealedReader } from '../../../src/agent/transport/sealed-reader.ts';
import { ChunkedWriter } from '../../../src/agent/transport/chunked-writer.ts';
import { runs } from '../../harness/effort.ts';

const KEY = Buffer.alloc(32, 5);
const KEYS = { send: KEY, receive: KEY };
const header = { stream: 3, sequence: 9, epoch: 1, operation: 2, dtype: 1 };

/** Everything written at once, as it would travel. */
function sealed(...bodies: readonly Uint8Array[]): Buffer {
  const pieces: Uint8Array[] = [];
  const writer = new ChunkedWriter(KEYS, (more) => {
    pieces.push(...more);
    return true;
  });
  for (const body of bodies) writer.write(header, body, () => undefined);
  return Buffer.concat(pieces);
}

function reading(): { reader: SealedReader; bodies: Buffer[]; lengths: number[] } {
  const bodies: Buffer[] = [];
  const lengths: number[] = [];
  let current: Buffer[] = [];
  const sink: FrameSink = {
    begin: ({ kind, length, ...found }) => {
      expect({ kind, ...found }).toEqual({ kind: 'data', ...header });
      lengths.push(length);
      current = [];
    },
    body: (piece) => current.push(piece),
    end: () => bodies.push(Buffer.concat(current)),
    room: () => undefined,
    filled: () => undefined,
  };
  return { reader: new SealedReader(sink, new FrameOpener(KEY), 1), bodies, lengths };
}

/** A body of so many bytes, of which every piece differs from every other. */
function body(length: number): Buffer {
  return Buffer.from(
    Uint32Array.from({ length: Math.ceil(length / 4) }, (_, i) => i * 77).buffer,
  ).subarray(0, length);
}

const LENGTHS = [
  0,
  1,
  8,
  4096,
  CHUNK_BYTES - 1,
  CHUNK_BYTES,
  CHUNK_BYTES + 1,
  3 * CHUNK_BYTES + 5,
];

test('bodies of all lengths arrive whole, however the bytes are cut', () => {
  const sent = LENGTHS.map(body);
  const bytes = sealed(...sent);
  const whole = LENGTHS.reduce((sum, n) => sum + n + sealedFraming(n), 0);
  expect(bytes).toHaveLength(whole);
  const cuts = fc.array(fc.integer({ min: 1, max: 100_000 }), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(cuts, fc.boolean(), (sizes, direct) => {
      const { reader, bodies } = reading();
      let at = 0;
      for (let turn = 0; at < bytes.length; turn++) {
        const take = bytes.subarray(at, at + sizes[turn % sizes.length]!);
        const room = direct ? reader.room() : undefined;
        if (room === undefined) {
          reader.push(take);
          at += take.length;
        } else {
          const filled = Math.min(room.length, take.length);
          room.set(take.subarray(0, filled));
          reader.filled(filled);
          at += filled;
        }
      }
      expect(bodies.map((one) => one.length)).toEqual(LENGTHS);
      expect(bodies.every((one, index) => one.equals(sent[index]!))).toBe(true);
    }),
    { numRuns: runs(50) },
  );
});

describe('what does not open', () => {
  const sent = [8, 200, 0, 70_000].map(body);
  const bytes = sealed(...sent);

  function refusal(stream: Buffer): {
    code: string;
    bodies: Buffer[];
    lengths: number[];
  } {
    const { reader, bodies, lengths } = reading();
    try {
      reader.push(stream);
    } catch (error) {
      const { code, rank } = error as GradwireError;
      expect(rank).toBe(1);
      return { code, bodies, lengths };
    }
    return { code: 'none', bodies, lengths };
  }

  test('any changed bit: and nothing from its record on reaches the sink', () => {
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(7), (at, bit) => {
        const changed = Buffer.from(bytes);
        changed[at]! ^= 1 << bit;
        const { code, bodies, lengths } = refusal(changed);
        expect(code).toBe('PEER_TAMPERED');
        bodies.forEach((one, index) => {
          expect(one.equals(sent[index]!)).toBe(true);
        });
        // A header that was changed is not believed either.
        lengths.forEach((length, index) => {
          expect(length).toBe(sent[index]!.length);
        });
      }),
      { numRuns: runs(300) },
    );
  });

  test('a frame again, a frame too few, frames in another order', () => {
    const first = bytes.subarray(0, 72);
    const second = bytes.subarray(72, 72 + 264);
    const third = bytes.subarray(72 + 264, 72 + 264 + 48);
    expect(refusal(Buffer.concat([first, first])).code).toBe('PEER_TAMPERED');
    expect(refusal(second).code).toBe('PEER_TAMPERED');
    expect(refusal(Buffer.concat([first, third])).code).toBe('PEER_TAMPERED');
    expect(refusal(Buffer.concat([second, first])).code).toBe('PEER_TAMPERED');
    expect(refusal(Buffer.concat([first, second, third])).code).toBe('none');
  });

  test('a chunk where a header belongs, and a header where a chunk does', () => {
    const chunk = bytes.subarray(48, 72);
    expect(refusal(Buffer.concat([chunk, bytes])).code).toBe('PEER_TAMPERED');
    const twice = Buffer.concat([bytes.subarray(0, 48), bytes.subarray(0, 48)]);
    expect(refusal(twice).code).toBe('PEER_TAMPERED');
  });
});

describe('the writer', () => {
  test('seals no more than there is room for, and goes on in order', () => {
    const pieces: Uint8Array[] = [];
    const room: boolean[] = [];
    const writer = new ChunkedWriter(KEYS, (more) => {
      pieces.push(...more);
      return room.shift() ?? false;
    });
    const flushed: string[] = [];
    const large = body(2 * CHUNK_BYTES + 10);
    expect(writer.write(header, large, () => flushed.push('large'))).toBe(false);
    expect(writer.write(header, body(8), () => flushed.push('small'))).toBe(false);
    writer.end(() => flushed.push('end'));
    const sizes = (): number => pieces.reduce((sum, { length }) => sum + length, 0);
    // One record of a header, one of a chunk.
    expect(sizes()).toBe(48 + CHUNK_BYTES + 16);
    room.push(true);
    writer.drained();
    expect(flushed).toEqual(['large']);
    writer.drained();
    expect(flushed).toEqual(['large', 'small', 'end']);
    const { reader, bodies } = reading();
    reader.push(Buffer.concat(pieces));
    expect(bodies.map((one) => one.length)).toEqual([large.length, 8]);
    expect(bodies[0]!.equals(large)).toBe(true);
  });

  test('has a small message sealed before it returns, where there is room', () => {
    const writer = new ChunkedWriter(KEYS, () => true);
    expect(writer.write(header, body(100), () => undefined)).toBe(true);
    let ended = false;
    writer.end(() => (ended = true));
    expect(ended).toBe(true);
  });
});

test('both sides have the same two keys, and no other connection has them', () => {
  const run = { runId: 'run', size: 3, secret: Buffer.alloc(32, 1), encrypted: true };
  const introduction = {
    dialer: 2,
    acceptor: 0,
    dialerNonce: Buffer.alloc(32, 2),
    acceptorNonce: Buffer.alloc(32, 3),
  };
  const dialer = deriveKeys(run, introduction, 'dialer');
  const acceptor = deriveKeys(run, introduction, 'acceptor');
  expect(dialer).toEqual({ send: acceptor.receive, receive: acceptor.send });
  const others = [
    [run, { ...introduction, dialerNonce: Buffer.alloc(32, 4) }],
    [run, { ...introduction, acceptorNonce: Buffer.alloc(32, 4) }],
    [run, { ...introduction, dialer: 1 }],
    [{ ...run, runId: 'other' }, introduction],
    [{ ...run, secret: Buffer.alloc(32, 7) }, introduction],
  ] as const;
  const all = [
    dialer,
    ...others.map(([one, other]) => deriveKeys(one, other, 'dialer')),
  ];
  const texts = all.flatMap(({ send, receive }) =>
    [send, receive].map((key) => key.toString('hex')),
  );
  expect(new Set(texts).size).toBe(2 * all.length);
});
