import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
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
