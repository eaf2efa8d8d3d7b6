import { describe, expect, test } from 'vitest';
import { GradwireError, type ErrorData } from '../../../src/shared/errors/errors.ts';
import {
  decodeAbortBody,
  decodeFrameHeader,
  encodeAbortFrame,
  encodeFrameHeader,
  FRAME_HEADER_BYTES,
  MAX_ABORT_BYTES,
  MAX_DATA_BYTES,
} from '../../../src/agent/transport/message-frame.ts';

const header = {
  stream: 0xfffffff1,
  sequence: 0xfffffff2,
  epoch: 0xfffffff3,
  operation: 0xfff4,
  dtype: 0xfff5,
};

function encoded(length = 0): Buffer {
  const bytes = Buffer.alloc(FRAME_HEADER_BYTES);
  encodeFrameHeader(bytes, 'data', header, length);
  return bytes;
}

describe('a frame header', () => {
  test.each([0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32])(
    'keeps every field, and a length of %d',
    (length) => {
      expect(decodeFrameHeader(encoded(length))).toEqual({
        ...header,
        kind: 'data',
        length,
      });
    },
  );

  test.each([
    ['other magic', 0, 0x12, 'FRAME_INVALID'],
    ['another version', 2, 9, 'FRAME_VERSION_MISMATCH'],
    ['an unknown kind', 3, 77, 'FRAME_INVALID'],
    ['reserved bits', 21, 1, 'FRAME_INVALID'],
    ['a length over 4 GiB', 29, 1, 'FRAME_TOO_LARGE'],
  ])('with %s is refused', (_, offset, byte, code) => {
    const bytes = encoded();
    bytes.writeUInt8(byte, offset);
    expect(() => decodeFrameHeader(bytes)).toThrow(expect.objectContaining({ code }));
  });

  test('of an abort frame may announce far less than data', () => {
    const bytes = Buffer.alloc(FRAME_HEADER_BYTES);
    encodeFrameHeader(bytes, 'abort', header, MAX_ABORT_BYTES + 1);
    expect(MAX_ABORT_BYTES).toBeLessThan(MAX_DATA_BYTES);
    expect(() => decodeFrameHeader(bytes)).toThrow(
      expect.objectContaining({ code: 'FRAME_TOO_LARGE' }),
    );
  });
});

describe('an abort frame', () => {
  const reason: ErrorData = {
    code: 'PEER_LOST',
    kind: 'failure',
    message: 'rank 2 closed its connection',
    place: 'stream 3',
    next: 'Look at its log.',
    rank: 2,
  };

  test('carries the whole reason', () => {
    const frame = encodeAbortFrame(reason);
    expect(decodeFrameHeader(frame).length).toBe(frame.length - FRAME_HEADER_BYTES);
    const error = decodeAbortBody(frame.subarray(FRAME_HEADER_BYTES));
    expect(error).toBeInstanceOf(GradwireError);
    expect(error.toData()).toEqual(reason);
  });

  test.each(['界', '\u0001', '"', '\ud800'])(
    'stays within its limit for %j',
    (letter) => {
      const long = letter.repeat(100_000);
      const texts = { code: long, message: long, place: long, next: long };
      const frame = encodeAbortFrame({ ...reason, ...texts });
      expect(decodeFrameHeader(frame).length).toBeLessThanOrEqual(MAX_ABORT_BYTES);
      const error = decodeAbortBody(frame.subarray(FRAME_HEADER_BYTES));
      expect(error.message).toBe(letter.repeat(800));
    },
  );

  test.each(['', 'no json', '[]', 'null', '{"code":1,"message":"x"}'])(
    'with the body %j is refused',
    (body) => {
      expect(() => decodeAbortBody(Buffer.from(body))).toThrow(
        expect.objectContaining({ code: 'FRAME_INVALID' }),
      );
    },
  );
});
