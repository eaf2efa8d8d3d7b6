/**
 * Adam (Kingma and Ba, 2015): m ← β₁·m + (1−β₁)·g, v ← β₂·v + (1−β₂)·g²,
 * w ← w − η·m̂ ⁄ (√v̂ + ε) with m̂ = m ⁄ (1−β₁ᵗ) and v̂ = v ⁄ (1−β₂ᵗ). Its weight decay is
 * that of the loss, g ← g + λ·w; AdamW (Loshchilov and Hutter, 2019) takes it from the
 * weights instead, w ← w − η·λ·w.
 */
import type { Optimizer } from './optimizer.ts';
import { power } from '../../../shared/numbers/portable-math.ts';

/** Constants of the paper, and of PyTorch. */
const BETA1 = 0.9;
const BETA2 = 0.999;
const EPSILON = 1e-8;
/** PyTorch's for AdamW. */
const DECOUPLED_DECAY = 0.01;

function adamWith(
  words: Pick<Optimizer, 'id' | 'title' | 'summary' | 'source'>,
  decoupled: boolean,
): Optimizer {
  const defaultWeightDecay = decoupled ? DECOUPLED_DECAY : 0;
  return {
    ...words,
    options: ['beta1', 'beta2', 'epsilon', 'weightDecay'],
    leavesMomentum: false,
    defaultWeightDecay,
    stateVectors: () => 2,
    factors: ({ beta1 = BETA1, beta2 = BETA2 }, step) => [
      1 / (1 - power(beta1, step)),
      1 / Math.sqrt(1 - power(beta2, step)),
    ],
    update({ numpy }, settings, step) {
      const { beta1 = BETA1, beta2 = BETA2, epsilon = EPSILON } = settings;
      const { weightDecay = defaultWeightDecay } = settings;
      const { state, learningRate, factors } = step;
      const [mean, square] = state;
      const [ofMean, ofRoot] = factors;
      let { weight, gradient } = step;
      if (weightDecay > 0 && decoupled) {
        const decay = learningRate.ref.mul(weightDecay);
        weight = weight.ref.sub(weight.mul(decay));
      } else if (weightDecay > 0) {
        gradient = gradient.add(weight.ref.mul(weightDecay));
      }
      const nextMean = mean!.mul(beta1).add(gradient.ref.mul(1 - beta1));
      const nextSquare = square!.mul(beta2).add(numpy.square(gradient).mul(1 - beta2));
      const root = numpy.sqrt(nextSquare.ref).mul(ofRoot!).add(epsilon);
      const change = nextMean.ref.mul(ofMean!).div(root).mul(learningRate);
      return { weight: weight.sub(change), state: [nextMean, nextSquare] };
    },
    stepInArena(kernels, settings, step) {
      const { beta1 = BETA1, beta2 = BETA2, epsilon = EPSILON } = settings;
      const { weightDecay = defaultWeightDecay } = settings;
      const { factor, gradient, rate, state, weights } = step;
      const [mean, square] = state;
      const [ofMean, ofRoot] = step.factors;
      kernels.optimization.adam(weights, mean!, square!, gradient, {
        factor,
        rate,
        weightDecay,
        decoupled,
        beta1,
        beta2,
        epsilon,
        ofMean: ofMean!,
        ofRoot: ofRoot!,
      });
    },
  };
}

export const adam = adamWith(
  {
    id: 'adam',
    title: 'Adam',
    summary:
      'm ← β₁·m + (1−β₁)·g, v ← β₂·v + (1−β₂)·g², w ← w − η·m̂ ⁄ (√v̂ + ε); weight decay is part of g.',
    source: 'Kingma and Ba (ICLR 2015)',
  },
  false,
);
export const adamw = adamWith(
  {
    id: 'adamw',
    title: 'AdamW',
    summary: 'Adam’s step, and weight decay from the weights: w ← w − η·λ·w.',
    source: 'Loshchilov and Hutter (ICLR 2019)',
  },
  true,
);
