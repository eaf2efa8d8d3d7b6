import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rowsInSight } from '../../../src/renderer/state/page/rows-in-sight.ts';

test('has every row that can be seen, and few others', () => {
  const sizes = fc.record({
    top: fc.integer({ min: 0, max: 1_000_000 }),
    height: fc.integer({ min: 1, max: 2000 }),
    row: fc.integer({ min: 10, max: 40 }),
    count: fc.integer({ min: 0, max: 40_000 }),
  });
  fc.assert(
    fc.property(sizes, ({ top, height, row, count }) => {
      const { from, to } = rowsInSight({ top, height, row, count });
      expect(from).toBeGreaterThanOrEqual(0);
      expect(to).toBeLessThanOrEqual(count);
      expect(to - from).toBeLessThanOrEqual(Math.ceil(height / row) + 21);
      // Where the end is reached the browser scrolls back.
      const reached = Math.min(top, Math.max(0, count * row - height));
      for (let index = 0; index < count; index += 1) {
        const seen = (index + 1) * row > reached && index * row < reached + height;
        if (seen && (index < from || index >= to)) {
          throw new Error(`row ${index} is not in ${from}…${to}`);
        }
        if (index * row > reached + height) break;
      }
    }),
    { numRuns: 50 },
  );
});
