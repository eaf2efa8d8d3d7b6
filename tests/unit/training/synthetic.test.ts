import { describe, expect, it, test } from 'vitest';
import { createTrainer } from '../../../src/agent/training/create-trainer.ts';
import { GradientSource } from '../../../src/agent/training/synthetic/gradient-source.ts';
import { profiles } from '../../../src/agent/training/synthetic/profiles.ts';
import { syntheticWorkload } from '../../../src/agent/training/synthetic/synthetic-workload.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import { effort } from '../../harness/effort.ts';
import { trainerOptions } from './train-together.ts';

const workloadOf = (synthetic: object | undefined, dataset = 'none') =>
  parseExperimentSpec({
    workload: { model: 'synthetic-gradient', dataset, synthetic, batchPerRank: 1 },
  }).workload;

describe('profiles', () => {
  // Parameters of torchvision's models, A2SGD's table 1 and BERT's released weights;
  // products of a 224×224 image: torchvision's "GFLOPS", which counts pairs.
  it.each([
    ['alexnet', 61_100_840, 0.71],
    ['vgg-16', 138_357_544, 15.47],
    ['resnet-50', 25_557_032, 4.09],
    ['lstm-ptb', 66_034_000, undefined],
    ['bert-large', 335_141_888, undefined],
  ])('%s has %i parameters', (profile, parameters, products) => {
    const { layers, length } = syntheticWorkload(workloadOf({ profile }));
    expect(length).toBe(parameters);
    if (products === undefined) return;
    const sum = layers.reduce((all, layer) => all + layer.products, 0);
    expect(sum / 1e9).toBeCloseTo(products, 1);
  });

  it('names each tensor once, and lays them side by side', async () => {
    for (const profile of profiles.keys()) {
      const trainer = await createTrainer({
        ...trainerOptions(
          { dataset: 'none', world: 1, batchPerRank: 1, lr: 1, iterations: 1 },
          0,
        ),
        model: 'synthetic-gradient',
        synthetic: { profile, distribution: 'normal', overlap: 0 },
      });
      const names = trainer.tensors.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      let end = 0;
      for (const { length, shape, start } of trainer.tensors) {
        expect(start).toBe(end);
        expect(length).toBe(shape.reduce((product, size) => product * size, 1));
        end += length;
      }
      expect(end).toBe(trainer.length);
    }
  });
});

test('the time is shared by the work of the layers, two thirds of it backward', () => {
  const workload = syntheticWorkload(workloadOf({ layers: [1, 3], computeMs: 60 }));
  expect(workload.forwardMs).toBeCloseTo(20);
  expect(workload.layers.map(({ backwardMs }) => Math.round(backwardMs))).toEqual([
    10, 30,
  ]);
  // 3 · 2 · 15.47·10⁹ operations at 10¹³ a second.
  const vgg = syntheticWorkload(workloadOf({ profile: 'vgg-16' }));
  const whole = vgg.layers.reduce(
    (sum, layer) => sum + layer.backwardMs,
    vgg.forwardMs,
  );
  expect(whole).toBeCloseTo(9.28, 1);
});

test.each([
  [undefined, 'none', 'SYNTHETIC_INVALID'],
  [{}, 'none', 'SYNTHETIC_INVALID'],
  [{ profile: 'vgg-16', layers: [1] }, 'none', 'SYNTHETIC_INVALID'],
  [{ layers: [2 ** 29, 2 ** 29] }, 'none', 'SYNTHETIC_INVALID'],
  [{ profile: 'vgg16' }, 'none', 'PROFILE_UNKNOWN'],
  [{ profile: 'vgg-16' }, 'digits', 'MODEL_DATASET_MISMATCH'],
])('%j with %s is refused as %s', (synthetic, dataset, code) => {
  expect(() => syntheticWorkload(workloadOf(synthetic, dataset))).toThrow(
    expect.objectContaining({ code }),
  );
});

describe('what is made up', () => {
  const length = effort({ quick: 100_000, soak: 400_000 });
  const filled = (
    options: Partial<ConstructorParameters<typeof GradientSource>[0]>,
    iteration = 0,
  ): Float32Array => {
    const source = new GradientSource({
      seed: 1,
      rank: 0,
      distribution: 'normal',
      overlap: 0.5,
      ...options,
    });
    const gradient = new Float32Array(length);
    // In parts, as layers are.
    source.fill(gradient.subarray(37_500), 37_500, iteration);
    source.fill(gradient.subarray(0, 37_500), 0, iteration);
    return gradient;
  };

  it('is the same for a seed, and another in each iteration and of each rank', () => {
    const first = filled({});
    expect(filled({})).toEqual(first);
    for (const other of [filled({}, 1), filled({ rank: 1 }), filled({ seed: 2 })]) {
      expect(other).not.toEqual(first);
    }
  });

  it.each([
    // Kurtosis of a sum of four uniforms: 3 − 1.2/4; of Laplace's distribution: 6.
    ['normal', 2.7],
    ['laplace', 6],
  ] as const)('has the moments of its distribution: %s', (distribution, kurtosis) => {
    const values = filled({ distribution });
    const moment = (power: number): number =>
      values.reduce((sum, value) => sum + value ** power, 0) / length;
    expect(moment(1)).toBeCloseTo(0, 3);
    expect(Math.sqrt(moment(2))).toBeCloseTo(0.01, 3);
    expect(moment(4) / moment(2) ** 2).toBeGreaterThan(0.9 * kurtosis);
    expect(moment(4) / moment(2) ** 2).toBeLessThan(1.1 * kurtosis);
  });

  it.each(effort({ quick: [0.5], soak: [0, 0.5, 1] }))(
    'has %d of its values alike on all ranks, always',
    (overlap) => {
      const alike = (iteration: number): boolean[] => {
        const [one, two] = [0, 1].map((rank) => filled({ overlap, rank }, iteration));
        return Array.from(one!, (value, i) => value === two![i]);
      };
      const first = alike(0);
      const share = first.filter(Boolean).length / length;
      expect(Math.abs(share - overlap)).toBeLessThan(overlap % 1 === 0 ? 0.01 : 0.15);
      const second = alike(7);
      const changed = first.filter((same, i) => same !== second[i]).length;
      expect(changed / length).toBeLessThan(0.01);
    },
  );
});
