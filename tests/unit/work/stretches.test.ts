/** Selections from stretches, each by its own threshold, against plain loops. */
import { describe, expect, it } from 'vitest';
import { ArenaWork } from '../../../src/agent/work/arena/arena-work.ts';
import type { Threshold } from '../../../src/agent/work/selection.ts';
import { bellShaped } from '../kernels/adversarial-inputs.ts';
import { backends } from '../kernels/backends.ts';

const STRETCHES = [
  { start: 0, length: 40, most: 5 },
  { start: 40, length: 1, most: 1 },
  { start: 60, length: 300, most: 20 },
  { start: 360, length: 40, most: 40 },
];
const N = 400;

const reached = (x: Float32Array, stretch: number, threshold: number): number[] => {
  const { start, length } = STRETCHES[stretch]!;
  const indices = Array.from({ length }, (_, i) => start + i);
  return indices.filter((i) => Math.abs(x[i]!) >= threshold);
};

describe.each(Object.entries(backends))('on %s kernels', (_, makeBackend) => {
  const { arena, kernels } = makeBackend();
  const work = new ArenaWork(arena, kernels);
  const selector = work.stretchSelector(N, STRETCHES);
  const vector = work.vector(N);

  /** What is taken after these rounds of questions, and what is left. */
  function select(x: Float32Array, rounds: readonly (readonly Threshold[])[]) {
    arena.f32(vector).set(x);
    selector.begin(vector);
    const counts = rounds.map((questions) => selector.count(questions));
    const { offset, count } = selector.take().stream() as {
      offset: number;
      count: number;
    };
    return {
      counts,
      indices: [...arena.u32(offset, count)],
      values: [...arena.f32({ offset: offset + 4 * count, length: count })],
      left: arena.f32(vector).slice(),
    };
  }

  const ask = (...thresholds: readonly number[]): Threshold[] =>
    thresholds.map((threshold, stretch) => ({ stretch, threshold }));

  function expectTaken(
    x: Float32Array,
    taken: ReturnType<typeof select>,
    thresholds: readonly number[],
  ): void {
    const indices = thresholds.flatMap((threshold, stretch) =>
      reached(x, stretch, threshold).slice(0, STRETCHES[stretch]!.most),
    );
    expect(taken.indices).toEqual(indices);
    expect(taken.values).toEqual(indices.map((i) => x[i]));
    expect(taken.left).toEqual(x.map((value, i) => (indices.includes(i) ? 0 : value)));
  }

  it('takes what reaches, and one too many tells that there are more', () => {
    const x = bellShaped(N, 3);
    const thresholds = [1, 0, 1.5, 0.5];
    const taken = select(x, [ask(...thresholds)]);
    thresholds.forEach((threshold, stretch) => {
      const { most } = STRETCHES[stretch]!;
      const expected = Math.min(most + 1, reached(x, stretch, threshold).length);
      expect(taken.counts[0]![stretch]).toBe(expected);
    });
    expectTaken(x, taken, thresholds);
  });

  it.each([0, 1, 2, 3])('asks again about stretch %i, up or down', (stretch) => {
    for (const [first, second] of [
      [0.5, 2],
      [2, 0.5],
      [0, 100],
      [100, 0],
    ]) {
      const x = bellShaped(N, 7 + stretch);
      const thresholds = [1, 0.1, 1.2, 0.7];
      thresholds[stretch] = first!;
      const again = { stretch, threshold: second! };
      const taken = select(x, [ask(...thresholds), [again]]);
      thresholds[stretch] = second!;
      const { most } = STRETCHES[stretch]!;
      const count = Math.min(most + 1, reached(x, stretch, second!).length);
      expect(taken.counts[1]).toEqual([count]);
      expectTaken(x, taken, thresholds);
    }
  });

  it('forgets the questions about the vector before', () => {
    select(bellShaped(N, 1), [ask(0, 0, 0, 0)]);
    const x = bellShaped(N, 2);
    expectTaken(x, select(x, [ask(1, 1, 1, 1)]), [1, 1, 1, 1]);
  });

  it('finds magnitudes by rank', () => {
    const x = bellShaped(N, 9);
    arena.f32(vector).set(x);
    selector.begin(vector);
    const questions = [
      { stretch: 2, k: 20 },
      { stretch: 0, k: 1 },
      { stretch: 1, k: 1 },
    ];
    const magnitudes = questions.map(({ stretch, k }) => {
      const { start, length } = STRETCHES[stretch]!;
      const sorted = [...x.subarray(start, start + length)].map(Math.abs);
      return sorted.sort((a, b) => b - a)[k - 1];
    });
    expect(selector.kthMagnitudes(questions)).toEqual(magnitudes);
  });
});
