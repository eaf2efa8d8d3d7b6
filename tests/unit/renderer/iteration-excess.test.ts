import { describe, expect, test } from 'vitest';
import { excessText } from '../../../src/renderer/state/runs/excess-text.ts';
import { iterationExcess } from '../../../src/renderer/state/runs/iteration-excess.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import type { PhaseTimes } from '../../../src/shared/records/phases.ts';
import { iterationRecord } from './records.ts';

type Phases = Partial<PhaseTimes>;

/** Fifty iterations of some ranks, whose receive differs by up to 8 ms. */
function usual(ranks: number, phases: Phases = { receive: 980, wait: 50 }) {
  return Array.from({ length: 50 }, (_, iteration) =>
    Array.from({ length: ranks }, (_, rank) =>
      iterationRecord({
        rank,
        iteration,
        phases: {
          ...phases,
          receive: (phases.receive ?? 0) + ((iteration * 5 + rank) % 9) - 4,
        },
      }),
    ),
  ).flat();
}

/** The iteration 60, with its ranks' phases. */
const own = (...ranks: readonly Phases[]): readonly IterationRecord[] =>
  ranks.map((phases, rank) => iterationRecord({ rank, iteration: 60, phases }));

const textOf = (
  records: readonly IterationRecord[],
  around: readonly IterationRecord[],
): string => excessText(iterationExcess(records, around));

describe('an iteration next to those around it', () => {
  test('names the receives that made it long, whatever rank waited', () => {
    const records = own(
      { receive: 4463, wait: 509 },
      { receive: 989, wait: 50 },
      { receive: 4837, wait: 70 },
      { receive: 980, wait: 50 },
    );
    expect(textOf(records, usual(4))).toBe(
      '3.94 s longer on ranks 0 and 2 than the iterations around it (median of 50: 1.03 s): ' +
        'receive of rank 2 took 3.86 s more, receive of rank 0 3.48 s more.',
    );
  });

  test('tells computing before the waits that follow from it', () => {
    const phases = { compute: 10, receive: 20, wait: 1 };
    const records = own({ ...phases, wait: 503 }, { ...phases, compute: 510 });
    expect(textOf(records, usual(2, phases))).toBe(
      '502 ms longer than the iterations around it (median of 50: 31.0 ms): ' +
        'compute of rank 1 took 500 ms more, wait of rank 0 502 ms more.',
    );
  });

  test('counts ranks where many took longer', () => {
    const slow = Array.from({ length: 8 }, (_, rank) => ({ receive: 2000 + rank }));
    const others = usual(8, { receive: 1000 });
    expect(textOf(own(...slow), others)).toMatch(
      /^1.01 s longer than .*: receive of all 8 ranks took 1.00 s to 1.01 s more\.$/,
    );
    const some = slow.map((phases, rank) => (rank < 5 ? phases : { receive: 1000 }));
    expect(textOf(own(...some), others)).toMatch(
      /^1.00 s longer on 5 of 8 ranks than .*: receive of 5 of 8 ranks took 1.00 s more\.$/,
    );
  });

  test('names no phase as the reason where none has half of it', () => {
    const phases = { compute: 10, receive: 10, send: 10, apply: 10 };
    const records = own({ compute: 25, receive: 23, send: 22, apply: 20 });
    expect(textOf(records, usual(1, phases))).toBe(
      '50.0 ms longer than the iterations around it (median of 50: 40.0 ms): ' +
        'no phase of a rank has half of that; the largest part: compute of rank 0 took 15.0 ms more.',
    );
  });

  test.each([
    [{ receive: 1000, wait: 50 }, 'As long as the iterations around it'],
    [{ receive: 500, wait: 50 }, '480 ms shorter than the iterations around it'],
  ])('%j: %s', (phases, text) => {
    expect(textOf(own(phases, phases), usual(2))).toBe(
      `${text} (median of 50: 1.03 s).`,
    );
  });

  test('stalls around it do not hide another one', () => {
    const around = usual(1).map((record) =>
      record.iteration % 5 === 0 ? { ...record, wall: 5000 } : record,
    );
    expect(textOf(own({ receive: 4950, wait: 50 }), around)).toMatch(/^3.97 s longer/);
  });

  test('says so where the iterations around it differ as much', () => {
    const around = Array.from({ length: 40 }, (_, iteration) =>
      iterationRecord({
        rank: 0,
        iteration,
        phases: { receive: 100 + 20 * (iteration % 10) },
      }),
    );
    expect(textOf(own({ receive: 280 }), around)).toBe(
      '90.0 ms longer than the iterations around it (median of 40: 190 ms), ' +
        'which differ as much from each other.',
    );
  });

  test('compares with nothing that ran another way, nor with itself', () => {
    const records = own({ receive: 50 });
    const others = usual(1).map((record) => ({ ...record, method: 'topk' }));
    const few = usual(1).slice(0, 4);
    const same = Array.from({ length: 9 }, () => records[0]!);
    expect(iterationExcess(records, [...others, ...few, ...same])).toBeUndefined();
    expect(textOf(records, [])).toBe(
      'Too few iterations around it did the same to compare it with them.',
    );
  });
});
