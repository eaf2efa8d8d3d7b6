import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GradwireError } from '../../../src/shared/errors/errors.ts';
import {
  FrameReader,
  type FrameSink,
} from '../../../src/agent/transport/frame-reader.ts';
import {
  encodeFrameHeader,
  FRAME_HEADER_BYTES,
  type FrameHeader,
} from '../../../src/agent/transport/message-frame.ts';
import { runs } from '../../harness/effort.ts';

interface Read {
  readonly header: FrameHeader;
  readonly body: Buffer;
}

class Recorder implements FrameSink {
  readonly frames: Read[] = [];
  readonly #chunk = Buffer.alloc(7);
  #header: FrameHeader | undefined;
  #pieces: Buffer[] = [];

  begin(header: FrameHeader): void {
    expect(this.#header).toBeUndefined();
    this.#header = header;
  }

  body(piece: Buffer): void {
    expect(piece.length).toBeGreaterThan(0);
    this.#pieces.push(Buffer.from(piece));
  }

  room(missing: number): Uint8Array {
    return this.#chunk.subarray(0, missing);
  }

  filled(bytes: number): void {
    this.body(this.#chunk.subarray(0, bytes));
  }

  end(): void {
    this.frames.push({ header: this.#header!, body: Buffer.concat(this.#pieces) });
    this.#header = undefined;
    this.#pieces = [];
  }
}

function frame(stream: number, body: Uint8Array): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  const fields = { stream, sequence: 5, epoch: 6, operation: 7, dtype: 8 };
  encodeFrameHeader(header, 'data', fields, body.length);
  return Buffer.concat([header, body]);
}

describe('frames', () => {
  test('come out the same wherever the stream is cut, pushed or put in their room', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 70 }), { minLength: 1 }),
        fc.boolean(),
        (bodies, cuts, direct) => {
          const recorder = new Recorder();
          const reader = new FrameReader(recorder);
          const stream = Buffer.concat(bodies.map((body, index) => frame(index, body)));
          for (let offset = 0, cut = 0; offset < stream.length; cut++) {
            let size = cuts[cut % cuts.length]!;
            const room = direct ? reader.room() : undefined;
            if (room === undefined) {
              reader.push(stream.subarray(offset, offset + size));
            } else {
              size = Math.min(size, room.length);
              room.set(stream.subarray(offset, offset + size));
              reader.filled(size);
            }
            offset += size;
          }
          expect(reader.midFrame).toBe(false);
          expect(
            recorder.frames.map(({ header, body }) => [header.stream, [...body]]),
          ).toEqual(bodies.map((body, index) => [index, [...body]]));
        },
      ),
    );
  });

  test('have no room for what is not body', () => {
    const reader = new FrameReader(new Recorder());
    expect(reader.room()).toBeUndefined();
    reader.push(frame(1, Buffer.alloc(10)).subarray(0, FRAME_HEADER_BYTES - 1));
    expect(reader.room()).toBeUndefined();
  });

  test('that are cut short are known to be unfinished', () => {
    const whole = frame(1, Buffer.alloc(10));
    for (let length = 1; length < whole.length; length++) {
      const reader = new FrameReader(new Recorder());
      reader.push(whole.subarray(0, length));
      expect(reader.midFrame).toBe(true);
    }
  });

  test('of random bytes end in coded errors, never in anything else', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: FRAME_HEADER_BYTES, maxLength: 200 }),
        fc.boolean(),
        (bytes, plausible) => {
          const chunk = Buffer.from(bytes);
          // Half of them get past the magic, so that later fields are tried too.
          if (plausible) chunk.set([0x47, 0x57, 1], 0);
          try {
            new FrameReader(new Recorder()).push(chunk);
          } catch (error) {
            expect(error).toBeInstanceOf(GradwireError);
            expect((error as GradwireError).code).toMatch(/^FRAME_/);
          }
        },
      ),
      { numRuns: runs(2000) },
    );
  });
});
