/** The judges of QSGD's figures, by results for which the rule leaves one verdict. */
import { describe, expect, test } from 'vitest';
import { qsgdFigure2 } from '../../../src/reproduce/figures/qsgd-figure-2.ts';
import { qsgdSection3 } from '../../../src/reproduce/figures/qsgd-section-3.ts';
import { qsgdTable1 } from '../../../src/reproduce/figures/qsgd-table-1.ts';
import { judged, part, type Values } from './judged.ts';

describe('shares of communication', () => {
  const sharing =
    (
      changed: (id: string, seed: number) => object | undefined = () => undefined,
    ): Values =>
    (id, seed) => {
      const ranks = part(id, 'p');
      const alexnet = id.startsWith('alexnet');
      const compute = (alexnet ? 80 : 400) / ranks;
      const communication = (alexnet ? 60 : 25) * (id.endsWith('bits-4') ? 0.5 : 1);
      const iteration = compute + communication;
      return {
        communication,
        iteration: iteration * (1 + seed),
        share: communication / iteration + 0.001 * seed,
        ...changed(id, seed),
      };
    };

  test('are confirmed where they grow and quantised gradients take less', () => {
    expect(judged(qsgdFigure2, sharing())).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test.each([
    [
      'resnet-50-p4-bits-4',
      { communication: 30 },
      'fails: ResNet-50: with 4 bit communication takes less time at each number of ranks (4 ranks)',
    ],
    [
      'resnet-50-p8-bits-4',
      { iteration: 1000 },
      'fails: ResNet-50: with 4 bit an iteration takes less time at 8 ranks',
    ],
  ])('are refuted by %s with %j', (changed, values, outcome) => {
    const { outcomes, verdict } = judged(
      qsgdFigure2,
      sharing((id) => (id === changed ? values : undefined)),
    );
    expect(verdict).toBe('refuted');
    expect(outcomes).toContain(outcome);
  });

  test('are undecided where the gain is within the spread', () => {
    const values = sharing((id, seed) =>
      id === 'alexnet-p8-bits-4'
        ? { iteration: [30, 400, 210, 100, 60][seed] }
        : undefined,
    );
    expect(judged(qsgdFigure2, values)).toEqual({
      verdict: 'undecided',
      outcomes: [
        'unclear: AlexNet: with 4 bit an iteration takes less time at 8 ranks',
      ],
    });
  });
});

describe('accuracy in few bits', () => {
  const reaching =
    (
      changes: Readonly<Record<string, number>>,
      noise: readonly number[] = [],
    ): Values =>
    (id, seed) => ({
      accuracy:
        0.9 +
        0.01 * seed +
        (changes[id] ?? 0) +
        (id === 'control' ? (noise[seed] ?? 0) : 0),
    });

  test('is confirmed where only the control loses', () => {
    expect(judged(qsgdTable1, reaching({ control: -0.2 }))).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test('is refuted where four bits lose', () => {
    expect(judged(qsgdTable1, reaching({ control: -0.2, 'bits-4': -0.05 }))).toEqual({
      verdict: 'refuted',
      outcomes: [
        'fails: with 4 bit the accuracy is at most 0.57 points below that of full precision',
      ],
    });
  });

  test.each([
    [0.005, 'confirmed'],
    [0.0065, 'refuted'],
  ])('is, with a loss of %d, %s', (loss, verdict) => {
    const values = reaching({ control: -0.2, 'bits-4': -loss });
    expect(judged(qsgdTable1, values).verdict).toBe(verdict);
  });

  test('is undecided where not even the control’s loss is seen', () => {
    expect(
      judged(qsgdTable1, reaching({ control: -0.02 }, [0.05, -0.05, 0, 0.04, -0.03])),
    ).toMatchObject({ verdict: 'undecided' });
  });
});

describe('error and length of a quantised gradient', () => {
  /** Bounds for 65,536 elements, from the theorems by hand. */
  const BOUNDS: Readonly<Record<string, { error: number; bits: number }>> = {
    s1: { error: 256, bits: 4270 },
    s16: { error: 16, bits: Infinity },
    sroot: { error: 1, bits: 183_532 },
    's16-d512': { error: Math.SQRT2, bits: Infinity },
  };
  const within =
    (share: number, changed: Readonly<Record<string, object>> = {}): Values =>
    (id, seed) => ({
      error: share * (BOUNDS[id]?.error ?? 300) * (1 + 0.001 * seed),
      bits:
        id === 'control'
          ? 60_000
          : Math.min(300_000, share * (BOUNDS[id]?.bits ?? 1e5)),
      ...changed[id],
    });

  test('are checked where they are below the bounds', () => {
    const { outcomes, verdict } = judged(qsgdSection3, within(0.9));
    expect({ outcomes, verdict }).toEqual({ outcomes: [], verdict: 'checked' });
  });

  test.each([
    [
      's16-d512',
      { error: 1.5 },
      'fails: with 16 levels, buckets of 512 the squared error is at most the bound of Lemma 3.1',
    ],
    [
      's1',
      { bits: 4400 },
      'fails: with one level a payload has at most the bits of Theorem 3.2',
    ],
  ])('are not checked by %s with %j', (id, values, outcome) => {
    const { outcomes, verdict } = judged(qsgdSection3, within(0.9, { [id]: values }));
    expect(verdict).toBe('undecided');
    expect(outcomes).toContain(outcome);
  });

  test('are undecided where the control is as short', () => {
    const short = within(0.9, { control: { bits: 4000 } });
    expect(judged(qsgdSection3, short).verdict).toBe('undecided');
  });
});
