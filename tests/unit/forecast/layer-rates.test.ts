/**
 * Multiply-adds counted by hand from the shapes of layers, ScaleCom's guidance against the
 * rates that its authors report, and the patterns that say it in a spec.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scalecom } from '../../../src/agent/methods/scalecom.ts';
import { fitsName } from '../../../src/shared/plan/name-pattern.ts';
import { layerPatterns } from '../../../src/agent/forecast/layer-patterns.ts';
import { rateOf } from '../../../src/agent/forecast/layer-rates.ts';
import { countMultiplyAdds } from '../../../src/agent/training/inspect/count-multiply-adds.ts';
import { classifier } from '../../../src/agent/training/models/classifier.ts';
import { dlrmSmall } from '../../../src/agent/training/models/dlrm.ts';
import { fnn3 } from '../../../src/agent/training/models/fnn3.ts';
import { lstmSmall } from '../../../src/agent/training/models/lstm-small.ts';
import type { Model } from '../../../src/agent/training/models/model.ts';
import { resnet20 } from '../../../src/agent/training/models/resnet.ts';
import { transformerSmall } from '../../../src/agent/training/models/transformer-small.ts';

const guidance = scalecom.ratesByLayer!;

/** Multiply-adds by tensor; those with none are left out. */
async function workOf(model: Model): Promise<Readonly<Record<string, number>>> {
  const { byTensor } = await countMultiplyAdds(model);
  return Object.fromEntries(
    model.tensors
      .map(({ name }, index) => [name, byTensor[index]!] as const)
      .filter(([, work]) => work !== 0),
  );
}

describe('multiply-adds of one sample’s forward pass', () => {
  it('of FNN-3: one for each weight', async () => {
    expect(await workOf(fnn3)).toEqual({
      'layer1.weight': 784 * 200,
      'layer2.weight': 200 * 200,
      'layer3.weight': 200 * 10,
    });
  });

  it('of ResNet-20: one for each weight and pixel of the output', async () => {
    const expected: Record<string, number> = { 'stem.weight': 9 * 3 * 16 * 32 * 32 };
    for (const [stage, channels, width] of [
      [1, 16, 32],
      [2, 32, 16],
      [3, 64, 8],
    ] as const) {
      for (const block of [1, 2, 3]) {
        const inputs = stage > 1 && block === 1 ? channels / 2 : channels;
        const name = `stage${stage}.block${block}`;
        expected[`${name}.first.weight`] = 9 * inputs * channels * width ** 2;
        expected[`${name}.second.weight`] = 9 * channels * channels * width ** 2;
      }
    }
    expected['dense.weight'] = 64 * 10;
    expect(await workOf(resnet20)).toEqual(expected);
    // What its authors' figure for CIFAR comes to: 41 million.
    const sum = Object.values(expected).reduce((a, b) => a + b);
    expect(sum).toBe(40_551_040);
  });

  it('of an LSTM: one for each weight and step, the first of which has no state', async () => {
    expect(await workOf(lstmSmall)).toEqual({
      embedding: 16 * 256 * 32,
      'layer1.input': 16 * 32 * 512,
      'layer1.state': 15 * 128 * 512,
      'output.weight': 16 * 128 * 256,
    });
  });

  it('of attention: its weights’ by token, scores and sums of values belong to none', async () => {
    const [tokens, width, layers] = [64, 128, 2];
    const { others } = await countMultiplyAdds(transformerSmall);
    expect(others).toBe(layers * 2 * tokens * tokens * width);
    const work = await workOf(transformerSmall);
    expect(work['layer1.attention.query.weight']).toBe(tokens * width * width);
    // It looks tokens up and gives their scores: two products with the same weights.
    const { shape } = transformerSmall.tensors.find(
      ({ name }) => name === 'embedding',
    )!;
    expect(work['embedding']).toBe(2 * tokens * shape[0]! * width);
  });

  it('of a table that is looked up: none', async () => {
    const work = await workOf(dlrmSmall.ofFeatures(1000));
    expect(work['embedding']).toBeUndefined();
    expect(work['bottom1.weight']).toBe(13 * 64);
  });

  it('of the library’s own convolutions, with stride and groups', async () => {
    const model = classifier({
      id: 'own',
      title: 'Own',
      summary: '',
      inputLength: 4 * 9 * 9,
      classes: 8,
      tensors: [
        { name: 'kernels', shape: [8, 2, 3, 3], initialize: 'ones' },
        { name: 'unused', shape: [5], initialize: 'ones' },
      ],
      logits({ lax }, [kernels], inputs) {
        const images = inputs.reshape([-1, 4, 9, 9]);
        const convolved = lax.convGeneralDilated(images, kernels!, [2, 2], 'VALID', {
          featureGroupCount: 2,
        });
        return convolved.mean([2, 3]);
      },
    });
    // 8 channels of 4 × 4 pixels, each from 2 channels of 3 × 3.
    expect(await workOf(model)).toEqual({ kernels: 8 * 4 * 4 * 2 * 3 * 3 });
  });
});

describe('ScaleCom’s guidance', () => {
  it.each([
    [1, 1, 400],
    [128, 1, 400],
    [128.1, 1, 50],
    [196, 1, 50],
    [196.1, 1, 25],
    [1e9, 1, 25],
    // The paper's LSTM: 400 times with 32 samples a rank, 100 times with 128.
    [21, 4, 100],
    [1000, 4, 6.25],
    [1000, 100, 1],
    // Fewer samples: no more than the guidance.
    [1, 0.25, 400],
  ])('%d multiply-adds per element and %d times its load: %d', (work, load, rate) => {
    expect(rateOf(guidance, work, load)).toBe(rate);
  });

  /** [weights, pixels of the output] of each layer. */
  type Layers = (readonly [weights: number, pixels: number])[];

  function resnet18(): Layers {
    const layers: Layers = [[49 * 3 * 64, 112 ** 2]];
    let inputs = 64;
    for (const [outputs, side] of [
      [64, 56],
      [128, 28],
      [256, 14],
      [512, 7],
    ] as const) {
      for (const block of [0, 1]) {
        layers.push([9 * (block === 0 ? inputs : outputs) * outputs, side ** 2]);
        layers.push([9 * outputs * outputs, side ** 2]);
      }
      if (inputs !== outputs) layers.push([inputs * outputs, side ** 2]);
      inputs = outputs;
    }
    return [...layers, [512 * 1000, 1]];
  }

  function resnet50(): Layers {
    const layers: Layers = [[49 * 3 * 64, 112 ** 2]];
    let inputs = 64;
    for (const [blocks, inner, side] of [
      [3, 64, 56],
      [4, 128, 28],
      [6, 256, 14],
      [3, 512, 7],
    ] as const) {
      for (let block = 0; block < blocks; block++) {
        // Its 3 × 3 convolution takes every second pixel where a stage begins.
        const before = block === 0 && inner > 64 ? 2 * side : side;
        layers.push([inputs * inner, before ** 2], [9 * inner * inner, side ** 2]);
        layers.push([inner * 4 * inner, side ** 2]);
        if (block === 0) layers.push([inputs * 4 * inner, side ** 2]);
        inputs = 4 * inner;
      }
    }
    return [...layers, [2048 * 1000, 1]];
  }

  const overall = (layers: Layers, factor: number): number => {
    const weights = layers.reduce((sum, [count]) => sum + count, 0);
    const sent = layers.reduce(
      (sum, [count, pixels]) => sum + count / rateOf(guidance, factor * pixels, 1),
      0,
    );
    return weights / sent;
  };

  it.each([
    ['ResNet-18', resnet18(), 11_678_912, 112],
    ['ResNet-50', resnet50(), 25_502_912, 96],
  ])('gives about the rate of the paper’s table 2 for %s', (_, layers, count, rate) => {
    expect(layers.reduce((sum, [weights]) => sum + weights, 0)).toBe(count);
    expect(Math.abs(overall(layers, 1) / rate - 1)).toBeLessThan(0.15);
    // Two operations for a multiply-add, a backward pass, or a batch: none gives it.
    for (const factor of [2, 3, 6, 32]) {
      expect(overall(layers, factor) / rate).toBeLessThan(0.8);
    }
  });
});

describe('patterns', () => {
  const part = fc.constantFrom('a', 'b', 'ab', 'weight', 'bias');
  const name = fc.array(part, { minLength: 1, maxLength: 3 }).map((of) => of.join('.'));
  const tensors = fc.uniqueArray(
    fc.record({ name, choice: fc.constantFrom(1, 2, 3) }),
    {
      selector: (tensor) => tensor.name,
      minLength: 1,
    },
  );

  it('give each tensor its own choice, the first that fits', () => {
    fc.assert(
      fc.property(tensors, (given) => {
        const patterns = layerPatterns(given, 1);
        for (const tensor of given) {
          const first = patterns.find(({ match }) => fitsName(match, tensor.name));
          expect(first?.choice ?? 1).toBe(tensor.choice);
        }
        for (const { match } of patterns) {
          expect(given.some((tensor) => fitsName(match, tensor.name))).toBe(true);
        }
      }),
    );
  });

  it('are few', () => {
    const layers = ['one', 'two', 'three'].flatMap((layer) => [
      { name: `${layer}.first.weight`, choice: layer === 'two' ? 25 : 400 },
      { name: `${layer}.second.weight`, choice: layer === 'two' ? 25 : 400 },
      { name: `${layer}.bias`, choice: 0 },
    ]);
    expect(layerPatterns(layers, 400)).toEqual([
      { match: '*.bias', choice: 0 },
      { match: 'two.*', choice: 25 },
    ]);
  });
});
