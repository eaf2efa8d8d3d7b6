import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { encodeFrame, FrameDecoder } from '../../../src/shared/protocol/frame.ts';

function decode(
  bytes: Uint8Array,
  sizes: readonly number[],
  limit?: number,
): unknown[] {
  const decoder = new FrameDecoder(limit);
  const messages: unknown[] = [];
  let offset = 0;
  for (let i = 0; offset < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? bytes.length;
    messages.push(...decoder.push(bytes.subarray(offset, offset + size)));
    offset += size;
  }
  return messages;
}

/** A key `__proto__` is renamed by msgpackr as it decodes, so that it sets no prototype. */
const withoutProto = (message: unknown): boolean =>
  !JSON.stringify(message).includes('__proto__');

afterEach(() => {
  vi.restoreAllMocks();
});

/** Counts the bytes that are set into arrays from others. */
function countCopies(): { bytes: number } {
  const copied = { bytes: 0 };
  const { set } = Uint8Array.prototype;
  vi.spyOn(Uint8Array.prototype, 'set').mockImplementation(function (
    this: Uint8Array,
    source,
    offset,
  ) {
    copied.bytes += source.length;
    set.call(this, source, offset);
  });
  return copied;
}

describe('control frames', () => {
  it('survive any chunking', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue().filter(withoutProto), { maxLength: 10 }),
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 }),
        (messages, sizes) => {
          const bytes = Buffer.concat(messages.map((message) => encodeFrame(message)));
          // -0 is a number MessagePack keeps and JSON does not distinguish.
          expect(JSON.stringify(decode(bytes, sizes))).toBe(JSON.stringify(messages));
        },
      ),
    );
  });

  it('in many small chunks are not copied again with each', () => {
    const text = 'x'.repeat(1 << 20);
    const bytes = encodeFrame(text);
    const copied = countCopies();
    const [message] = decode(bytes, [1000]);
    expect(copied.bytes).toBeLessThan(3 * bytes.length);
    expect(message === text).toBe(true);
  });

  it('may come in a buffer that is used again', () => {
    const bytes = encodeFrame('first and second');
    const decoder = new FrameDecoder();
    const buffer = Buffer.alloc(10);
    const messages: unknown[] = [];
    for (let offset = 0; offset < bytes.length; offset += buffer.length) {
      const piece = bytes.subarray(offset, offset + buffer.length);
      buffer.set(piece);
      messages.push(...decoder.push(buffer.subarray(0, piece.length)));
    }
    expect(messages).toEqual(['first and second']);
  });

  it('tell how many bytes have been decoded, frame by frame', () => {
    const frames = ['a', 'bcd', [1, 2, 3]].map((message) => encodeFrame(message));
    const decoder = new FrameDecoder();
    const ends: number[] = [];
    const messages = decoder.push(Buffer.concat([...frames, Buffer.of(9)]));
    while (messages.next().done !== true) ends.push(decoder.decodedBytes);
    const [a, b, c] = frames.map(({ length }) => length) as [number, number, number];
    expect(ends).toEqual([a, a + b, a + b + c]);
    expect(decoder.pendingBytes).toBe(1);
  });

  it('are refused by their length before a body is kept', () => {
    const bytes = Buffer.from([0, 0, 0, 1]);
    expect(() => decode(bytes, [4], 1024)).toThrowError(
      expect.objectContaining({ code: 'FRAME_TOO_LARGE' }) as Error,
    );
  });

  it('with a body that is not MessagePack are a coded error, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (body) => {
        const frame = Buffer.alloc(4 + body.length);
        frame.writeUInt32LE(body.length);
        frame.set(body, 4);
        try {
          decode(frame, [frame.length]);
        } catch (error) {
          expect(error).toMatchObject({ code: 'FRAME_INVALID' });
        }
      }),
    );
  });
});
