import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecentIterations } from '../../../src/shared/verdict/recent-iterations.ts';
import { iterationRecord } from './records.ts';

describe('recent iterations', () => {
  it('holds what was added, whatever the order, and calls repetitions duplicates', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray(
          Array.from({ length: 24 }, (_, index) => index),
          { minLength: 24 },
        ),
        (order) => {
          const recent = new RecentIterations(3, 16);
          for (const index of order) {
            const shape = { rank: index % 3, iteration: Math.floor(index / 3) };
            expect(recent.add(iterationRecord({ ...shape, loss: index }))).toBe(
              'added',
            );
            expect(recent.add(iterationRecord({ ...shape, loss: -1 }))).toBe(
              'duplicate',
            );
          }
          for (let index = 0; index < 24; index++) {
            const iteration = Math.floor(index / 3);
            expect(recent.value(iteration, index % 3, 'loss')).toBe(index);
          }
          expect(recent.newestComplete).toBe(7);
        },
      ),
    );
  });

  it('forgets what is older than its capacity and refuses to take it again', () => {
    const recent = new RecentIterations(1, 4);
    for (let iteration = 0; iteration < 6; iteration++) {
      recent.add(iterationRecord({ rank: 0, iteration }));
    }
    expect(recent.oldest).toBe(2);
    expect(recent.has(1, 0)).toBe(false);
    expect(recent.value(1, 0, 'loss')).toBeNaN();
    expect(recent.add(iterationRecord({ rank: 0, iteration: 1 }))).toBe('too-old');
    expect(recent.has(5, 0)).toBe(true);
  });

  it('does not count a repeated record’s waits twice', () => {
    const recent = new RecentIterations(2, 4);
    const record = iterationRecord({ rank: 0, iteration: 0, waitedFor: { '1': 2.5 } });
    recent.add(record);
    recent.add(record);
    expect(recent.awaited(0, 1)).toBe(2.5);
    expect(recent.awaited(0, 0)).toBe(0);
  });

  it('means over the ranks that observed a quantity, NaN where none did', () => {
    const recent = new RecentIterations(3, 4);
    recent.add(iterationRecord({ rank: 0, iteration: 0, nnzLocal: 10 }));
    recent.add(iterationRecord({ rank: 1, iteration: 0, nnzLocal: 20 }));
    recent.add(iterationRecord({ rank: 2, iteration: 0 }));
    expect(recent.mean(0, 'nnzLocal')).toBe(15);
    expect(recent.mean(0, 'residualNorm')).toBeNaN();
    expect(recent.newestComplete).toBe(0);
  });
});
