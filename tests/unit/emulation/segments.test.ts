/** Segments on the wire: whole again however they were cut; what is none is refused. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SegmentMemory } from '../../../src/agent/emulation/segment-memory.ts';
import { SegmentReader } from '../../../src/agent/emulation/segment-reader.ts';
import {
  encodeSegmentHeader,
  SEGMENT_HEADER_BYTES,
} from '../../../src/agent/emulation/segment.ts';
import { runs } from '../../harness/effort.ts';

const MOST = 100;

function segment(leftAt: number, body: Uint8Array, putAt = leftAt - 5): Buffer {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES + body.length);
  encodeSegmentHeader(bytes, { length: body.length, leftAt, putAt });
  bytes.set(body, SEGMENT_HEADER_BYTES);
  return bytes;
}

function reading(): { reader: SegmentReader; seen: [number, Buffer][] } {
  const seen: [number, Buffer][] = [];
  const memory = new SegmentMemory(MOST);
  const reader = new SegmentReader(memory, ({ leftAt, block, bytes }) => {
    seen.push([leftAt, Buffer.from(block.subarray(0, bytes))]);
    // Used again at once: what was seen must not depend on it.
    block.fill(0);
    memory.release(block);
  });
  return { reader, seen };
}

test('segments are read as they were written, cut anywhere, pushed or filled', () => {
  const bodies = fc.array(fc.uint8Array({ minLength: 1, maxLength: MOST }), {
    minLength: 1,
    maxLength: 8,
  });
  const cuts = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 });
  fc.assert(
    fc.property(bodies, cuts, fc.boolean(), (written, sizes, fills) => {
      const stream = Buffer.concat(
        written.map((body, index) => segment(index + 0.25, body)),
      );
      const { reader, seen } = reading();
      for (let at = 0, turn = 0; at < stream.length; turn++) {
        const end = Math.min(stream.length, at + sizes[turn % sizes.length]!);
        const room = fills ? reader.room() : undefined;
        if (room === undefined) {
          reader.push(stream.subarray(at, end));
          at = end;
        } else {
          const part = stream.subarray(at, Math.min(end, at + room.length));
          room.set(part);
          reader.filled(part.length);
          at += part.length;
        }
      }
      expect(seen).toEqual(
        written.map((body, index) => [index + 0.25, Buffer.from(body)]),
      );
    }),
    { numRuns: runs(100) },
  );
});

test.each([
  ['bytes of a link that is not emulated', Buffer.alloc(SEGMENT_HEADER_BYTES, 7)],
  ['a segment that is too long', segment(1, Buffer.alloc(MOST + 1))],
  ['an empty segment', segment(1, Buffer.alloc(0))],
  ['a segment that never left', segment(NaN, Buffer.alloc(1))],
  ['a segment that was never put', segment(1, Buffer.alloc(1), Infinity)],
])('%s are refused', (_, bytes) => {
  const { reader } = reading();
  expect(() => {
    reader.push(bytes);
  }).toThrow(expect.objectContaining({ code: 'LINK_NOT_EMULATED' }));
});
