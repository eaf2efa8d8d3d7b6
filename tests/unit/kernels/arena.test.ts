import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Arena, arenaMemory, type Region } from '../../../src/agent/memory/arena.ts';
import { effort } from '../../harness/effort.ts';

it('hands out aligned regions that never overlap, and takes them back', () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ allocate: fc.nat({ max: 5000 }) }),
      fc.record({ release: fc.nat({ max: 50 }) }),
    ),
    { maxLength: 80 },
  );
  fc.assert(
    fc.property(steps, (all) => {
      const arena = new Arena();
      const live: Region[] = [];
      for (const step of all) {
        if ('allocate' in step) {
          const region = arena.allocate(step.allocate);
          expect(region.offset % 16).toBe(0);
          expect(region.bytes).toBeGreaterThanOrEqual(step.allocate);
          expect(region.offset + region.bytes).toBeLessThanOrEqual(
            arena.buffer.byteLength,
          );
          live.push(region);
          const sorted = live.toSorted((a, b) => a.offset - b.offset);
          sorted.reduce((before, after) => {
            expect(before.offset + before.bytes).toBeLessThanOrEqual(after.offset);
            return after;
          });
        } else if (live.length > 0) {
          arena.release(live.splice(step.release % live.length, 1)[0]!);
        }
      }
    }),
  );
});

it('joins what is released, so that a run in pieces serves a whole one again', () => {
  const arena = new Arena();
  const pieces = Array.from({ length: 8 }, () => arena.allocate(1000));
  arena.allocate(16);
  for (const index of [3, 1, 2, 7, 0, 5, 6, 4]) arena.release(pieces[index]!);
  expect(arena.allocate(8 * 1008).offset).toBe(pieces[0]!.offset);
});

it('says that it is exhausted where memory cannot grow', () => {
  expect(() => new Arena().allocate(2 ** 33)).toThrow(
    expect.objectContaining({ code: 'ARENA_EXHAUSTED' }),
  );
});

it('leaves alone what others have taken of its memory', () => {
  const PAGE = 65_536;
  const steps = fc.array(
    fc.record({
      others: fc.nat({ max: 3 }),
      bytes: fc.integer({ min: 1, max: 3 * PAGE }),
    }),
    { minLength: 1, maxLength: 40 },
  );
  fc.assert(
    fc.property(steps, (all) => {
      const memory = arenaMemory();
      const arena = new Arena(memory);
      const taken: Region[] = [];
      for (const { bytes, others } of all) {
        if (others > 0) {
          const offset = PAGE * memory.grow(others);
          taken.push({ offset, bytes: others * PAGE });
        }
        taken.push(arena.allocate(bytes));
      }
      taken.sort((a, b) => a.offset - b.offset);
      taken.reduce((before, after) => {
        expect(before.offset + before.bytes).toBeLessThanOrEqual(after.offset);
        return after;
      });
      expect(taken.at(-1)!.offset + taken.at(-1)!.bytes).toBeLessThanOrEqual(
        memory.buffer.byteLength,
      );
    }),
    { numRuns: effort({ quick: 25, soak: 5000 }) },
  );
});

it('takes back a region by the bytes that were asked for, also none', () => {
  for (const bytes of [0, 1, 17, 64]) {
    const arena = new Arena();
    const region = arena.allocate(bytes);
    arena.release({ offset: region.offset, bytes });
    expect(arena.allocate(bytes)).toEqual(region);
    arena.release(region);
  }
});

it('does not take back what it has taken back already, or has never given', () => {
  const arena = new Arena();
  const [a, b, c] = [arena.allocate(64), arena.allocate(64), arena.allocate(64)];
  const wrong: Region[] = [];
  arena.release(b);
  wrong.push(b, { offset: b.offset + 16, bytes: 16 }, { offset: a.offset, bytes: 80 });
  arena.release(a);
  wrong.push(a, b, { offset: b.offset + 48, bytes: 32 }, { ...c, bytes: 128 });
  wrong.push(
    { offset: 0, bytes: 16 },
    { ...c, bytes: -16 },
    { offset: NaN, bytes: 16 },
  );
  for (const region of wrong) {
    expect(() => arena.release(region)).toThrow(/^internal: .* not in use$/);
  }
  // And nothing is free twice.
  const [d, e] = [arena.allocate(64), arena.allocate(64)];
  expect([d.offset, e.offset]).toEqual([a.offset, b.offset]);
  arena.release(c);
});
