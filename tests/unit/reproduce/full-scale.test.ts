/** Figures with the papers' own sizes: what is run where, and what is refused. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { checkedLaunch } from '../../harness/checked-launch.ts';
import type { Figure } from '../../../src/reproduce/figure.ts';
import { figures, findFigure } from '../../../src/reproduce/figures/registry.ts';
import { atFullScale, type Machines } from '../../../src/reproduce/full-scale.ts';
import { plannedRuns } from '../../../src/reproduce/planned-runs.ts';
import { broughtData } from './brought-data.ts';

const given = (more: Partial<Machines> = {}): Machines => ({
  nodes: ['a', 'b'],
  processors: 64,
  data: '/data',
  ...more,
});
const full = (figure: Figure, more: Partial<Machines> = {}): Figure =>
  atFullScale(figure, given(more), figures);

/** Of the papers' texts; where these have none, those of the laptop. */
const RANKS: Readonly<Record<string, readonly number[]>> = {
  'sparcml-figure-1': [2, 4, 8],
  'sparcml-figure-3': [8],
  'sparcml-figure-3-nodes': [2, 4, 8],
  'sparcml-table-2': [8],
  'qsgd-table-1': [8],
  'a2sgd-figure-1': [1],
  'a2sgd-figure-3': [8],
  'a2sgd-figure-3-resnet': [8],
  'a2sgd-figure-4': [2, 8],
  'a2sgd-figure-5': [2, 8],
  'scalecom-figure-2': [2, 4, 8],
  'scalecom-figure-3': [4, 8, 16],
  'dct-figure-2': [2],
  'dct-figure-5': [2],
  'dct-table-1': [2, 3],
  'dct-table-2': [2],
  'dct-table-3': [4, 6],
  'dct-figure-7b': [2],
};

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

    test('has runs that can be launched, on the machines that were named', () => {
      const planned = plannedRuns(full(figure, { data: broughtData() }));
      for (const { case: one, spec } of planned) {
        expect(spec.world.nodes).toEqual(['a', 'b'].slice(0, spec.world.ranks));
        // A claim about two networks: that of the machines cannot be both.
        if (!one.id.startsWith('slow-')) expect(spec.network).toBeUndefined();
        expect(spec.name).toMatch(`reproduce ${id}-full: `);
        expect(checkedLaunch(spec).spec.iterations).toBe(spec.iterations);
      }
      expect(planned).toHaveLength(plannedRuns(figure).length);
    });

    test('has the numbers of ranks of the paper', () => {
      const ranks = plannedRuns(full(figure)).map(({ spec }) => spec.world.ranks);
      expect([...new Set(ranks)].toSorted((a, b) => a - b)).toEqual(RANKS[id]);
    });

    test('asks for data if and only if it trains on some', () => {
      const reads = plannedRuns(full(figure)).some(
        ({ spec }) => spec.workload.data !== undefined,
      );
      const trains = figure.full!.cases.some(
        ({ spec }) => (spec['workload'] as { dataset: string }).dataset !== 'none',
      );
      expect(figure.full!.data !== undefined).toBe(trains);
      expect(reads).toBe(trains);
      if (!trains) return;
      expect(() => full(figure, { data: undefined })).toThrow(
        expect.objectContaining({
          code: 'DATA_DIRECTORY_MISSING',
          message: `${id} at full scale needs ${figure.full!.data!.name}`,
          place: '--data',
        }),
      );
    });
  },
);

/** Of one case at full scale. */
function specOf(figure: string, id: string) {
  const planned = plannedRuns(full(findFigure(figure)));
  return planned.find((one) => one.case.id === id)!.spec;
}

test.each<readonly [figure: string, id: string, sizes: object]>([
  [
    'sparcml-figure-1',
    'p8-d0.01',
    {
      workload: { model: 'resnet-20', dataset: 'cifar-10', batchPerRank: 32 },
      iterations: 980,
    },
  ],
  [
    'sparcml-figure-3',
    'ring',
    { workload: { synthetic: { layers: [16_777_216] } }, iterations: 12 },
  ],
  [
    'sparcml-table-2',
    'slow-webspam-lr-dense',
    {
      workload: {
        model: 'logistic-regression',
        dataset: 'svmlight',
        batchPerRank: 1000,
        features: 16_609_144,
        data: '/data/webspam_wc_normalized_trigram.svm',
      },
      network: { bandwidth: '1 Gbit/s' },
      backend: 'wasm',
      iterations: 43,
    },
  ],
  [
    'sparcml-table-2',
    'slow-url-svm-sparse',
    {
      workload: {
        model: 'linear-svm',
        features: 3_231_962,
        data: '/data/url_combined',
      },
      iterations: 273,
    },
  ],
  [
    'qsgd-table-1',
    'bits-4',
    {
      workload: { model: 'resnet-110', dataset: 'cifar-10', batchPerRank: 32 },
      exchange: { bits: 4, bucket: 512 },
      iterations: 31_360,
    },
  ],
  [
    'a2sgd-figure-1',
    'fnn3',
    {
      workload: { model: 'fnn3', dataset: 'mnist', batchPerRank: 128 },
      optimizer: { lr: 0.01, warmupIterations: 2345 },
      iterations: 14_070,
    },
  ],
  [
    'a2sgd-figure-3',
    'a2sgd',
    {
      workload: { model: 'fnn3', dataset: 'mnist', batchPerRank: 128, data: '/data' },
      // 0.01 for 128 images, and linear scaling to 1,024.
      optimizer: { lr: 0.08 },
      iterations: 1740,
    },
  ],
  [
    'a2sgd-figure-3-resnet',
    'topk',
    {
      workload: { model: 'resnet-20', dataset: 'cifar-10', batchPerRank: 128 },
      exchange: { ratio: 0.001 },
      iterations: 7350,
    },
  ],
  [
    'a2sgd-figure-4',
    'qsgd-large-p8',
    { workload: { synthetic: { profile: 'lstm-ptb' } }, iterations: 12 },
  ],
  [
    'scalecom-figure-2',
    'high',
    {
      workload: { model: 'resnet-18', dataset: 'cifar-10', batchPerRank: 32 },
      optimizer: { lr: 1 },
      iterations: 90,
    },
  ],
  [
    'scalecom-figure-3',
    'p16',
    {
      workload: { model: 'resnet-18', dataset: 'cifar-10', batchPerRank: 32 },
      exchange: { ratio: 0.0025, bucketBytes: 67_108_864 },
    },
  ],
  [
    'dct-figure-2',
    'eta-95',
    { workload: { model: 'dlrm', dataset: 'criteo', data: '/data/train.txt' } },
  ],
  [
    'dct-figure-5',
    'mp-90',
    { parallelism: { pipeline: { splitAfter: ['bottom2'] } }, inspectEvery: 10 },
  ],
  [
    'dct-table-1',
    'mp3-90',
    {
      workload: { model: 'dlrm', dataset: 'criteo', batchPerRank: 128 },
      parallelism: { pipeline: { splitAfter: ['bottom2', 'top2'] } },
      iterations: 306_969,
    },
  ],
  [
    'dct-table-2',
    'eta-98',
    { workload: { model: 'dlrm', batchPerRank: 64 }, iterations: 306_969 },
  ],
  [
    'dct-table-3',
    'hybrid3-95',
    { workload: { model: 'dlrm', batchPerRank: 64 }, world: { ranks: 6 } },
  ],
])('sizes of %s, %s, are the paper’s', (figure, id, sizes) => {
  expect(specOf(figure, id)).toMatchObject(sizes);
});

test('the decision says of each figure whether it has a full scale', () => {
  const text = readFileSync('docs/decisions/050-reproductions.md', 'utf8');
  const rows = [...text.matchAll(/^\| `([\w-]+)` +\| (yes|no) +\|/gm)];
  expect(rows.map(([, id, answer]) => [id, answer])).toEqual(
    figures.map(({ id, full: has }) => [id, has === undefined ? 'no' : 'yes']),
  );
});

test('each figure with a full scale has its sizes and ranks looked at here', () => {
  expect(withFull.map(({ id }) => id)).toEqual(Object.keys(RANKS));
});

test('what is measured in epoch 5 at full scale is measured early on a laptop', () => {
  const figure = findFigure('sparcml-figure-1');
  const at = (iteration: number, nnzReduced: number) => ({
    type: 'iteration',
    rank: 0,
    iteration,
    nnzReduced,
    bytes: { dense: 4000 },
  });
  const records = [at(6, 100), at(979, 300)] as never[];
  expect(figure.measure(records).values).toEqual({ dense: 0, density: 0.2 });
  expect(full(figure).measure(records).values).toEqual({ dense: 0, density: 0.3 });
});

test('a model that is not the laptop’s is in the title', () => {
  expect(full(findFigure('qsgd-table-1')).title).toContain('ResNet-110');
  const figure = findFigure('dct-table-1');
  expect(full(figure).title).toBe(figure.title);
});

test('a world that is too small for times is refused, one of unknown size is not', () => {
  const figure = findFigure('sparcml-figure-3');
  expect(() => full(figure, { processors: 7 })).toThrow(
    expect.objectContaining({
      code: 'WORLD_TOO_SMALL',
      message:
        'sparcml-figure-3 at full scale has 8 ranks, but the machines have 7 processors',
      place: '--nodes a,b',
    }),
  );
  expect(full(figure, { processors: 8 }).id).toBe('sparcml-figure-3-full');
  expect(full(figure, { processors: undefined }).id).toBe('sparcml-figure-3-full');
  // An accuracy comes out the same on one processor.
  expect(full(findFigure('a2sgd-figure-3'), { processors: 1 }).cases).toHaveLength(5);
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
      next: `Remove --full, or choose one of: ${withFull.map(({ id }) => id).join(', ')}.`,
    }),
  );
});
