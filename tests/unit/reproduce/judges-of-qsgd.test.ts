/** The judges of QSGD's figures, by results for which the rule leaves one verdict. */
import { describe, expect, test } from 'vitest';
import { qsgdFigure2 } from '../../../src/reproduce/figures/qsgd-figure-2.ts';
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

  test('is undecided where not even the control’s loss is seen', () => {
    expect(
      judged(qsgdTable1, reaching({ control: -0.02 }, [0.05, -0.05, 0, 0.04, -0.03])),
    ).toMatchObject({ verdict: 'undecided' });
  });
});
