/** Figures with the papers' own sizes: what is run where, and what is refused. */
import { describe, expect, test } from 'vitest';
import type { Figure } from '../../../src/main/reproduce/figure.ts';
import { figures, findFigure } from '../../../src/main/reproduce/figures/registry.ts';
import { atFullScale, type Machines } from '../../../src/main/reproduce/full-scale.ts';
import { plannedRuns } from '../../../src/main/reproduce/planned-runs.ts';

const given = (more: Partial<Machines> = {}): Machines => ({
  ...{ nodes: ['a', 'b'], processors: 64, data: '/data' },
  ...more,
});
const full = (figure: Figure, more: Partial<Machines> = {}): Figure =>
  atFullScale(figure, given(more), figures);

const withFull = figures.filter((figure) => figure.full !== undefined);

describe.each(withFull.map((figure) => [figure.id, figure] as const))(
  '%s',
  (id, figure) => {
    test('has the cases of the laptop’s, so that its rule can judge them', () => {
      expect(figure.full!.cases.map((one) => one.id)).toEqual(
        figure.cases.map((one) => one.id),
      );
      const at = full(figure);
      expect(at.rule).toBe(figure.rule);
      expect(at.differences).not.toEqual(figure.differences);
    });

    test('has runs that the spec’s parser takes, on the machines that were named', () => {
      const planned = plannedRuns(full(figure));
      for (const { spec } of planned) {
        expect(spec.world.nodes).toEqual(['a', 'b']);
        expect(spec.network).toBeUndefined();
        expect(spec.name).toMatch(`reproduce ${id}-full: `);
      }
      expect(planned).toHaveLength(plannedRuns(figure).length);
    });
  },
);

test('sizes are the papers’', () => {
  const [sparcml] = plannedRuns(full(findFigure('sparcml-figure-3')));
  expect(sparcml!.spec).toMatchObject({
    workload: { synthetic: { layers: [16_777_216] } },
    world: { ranks: 8 },
  });
  const [a2sgd] = plannedRuns(full(findFigure('a2sgd-figure-3')));
  expect(a2sgd!.spec).toMatchObject({
    workload: { model: 'fnn3', dataset: 'mnist', batchPerRank: 128, data: '/data' },
    optimizer: { lr: 0.01 },
    iterations: 1740,
  });
  const lstm = plannedRuns(full(findFigure('a2sgd-figure-4'))).at(-1)!;
  expect(lstm.spec.workload.synthetic).toMatchObject({ profile: 'lstm-ptb' });
  expect(lstm.spec.workload.data).toBeUndefined();
});

test('a world that is too small is refused, one of unknown size is not', () => {
  const figure = findFigure('sparcml-figure-3');
  expect(() => full(figure, { processors: 7 })).toThrow(
    expect.objectContaining({
      code: 'WORLD_TOO_SMALL',
      message: 'sparcml-figure-3 at full scale has 8 ranks, the machines 7 processors',
      place: '--nodes a,b',
    }),
  );
  expect(full(figure, { processors: 8 }).id).toBe('sparcml-figure-3-full');
  expect(full(figure, { processors: undefined }).id).toBe('sparcml-figure-3-full');
});

test('a run is on as many machines as it has ranks', () => {
  const figure = full(findFigure('a2sgd-figure-4'), { nodes: ['a', 'b', 'c'] });
  for (const { spec } of plannedRuns(figure)) {
    expect(spec.world.nodes).toEqual(
      spec.world.ranks === 2 ? ['a', 'b'] : ['a', 'b', 'c'],
    );
  }
});

test('a figure without a full scale is refused, and those that have one are named', () => {
  expect(() => full(findFigure('a2sgd-table-2'))).toThrow(
    expect.objectContaining({
      code: 'FULL_SCALE_MISSING',
      next: `Leave out --full, or take one of: ${withFull.map(({ id }) => id).join(', ')}.`,
    }),
  );
});

test('data that are needed are asked for', () => {
  expect(() => full(findFigure('a2sgd-figure-3'), { data: undefined })).toThrow(
    expect.objectContaining({ code: 'DATA_DIRECTORY_MISSING', place: '--data' }),
  );
});
