/**
 * Adagrad (Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online Learning and
 * Stochastic Optimization", 2011), as PyTorch has it: s ← s + g², w ← w − η·g ⁄ (√s + ε).
 * Weight decay is that of the loss: g ← g + λ·w. Without it, what has a gradient of 0 does not
 * move, nor does its sum, so that a step of a table costs the rows in use.
 */
import type { Optimizer } from './optimizer.ts';
import { forEachUsed } from './used-entries.ts';

/** PyTorch's. */
const EPSILON = 1e-10;

export const adagrad: Optimizer = {
  id: 'adagrad',
  title: 'Adagrad',
  summary: 's ← s + g², w ← w − η·g ⁄ (√s + ε): elements that move often move less.',
  source: 'Duchi, Hazan and Singer (JMLR 2011)',
  options: ['epsilon', 'weightDecay'],
  leavesMomentum: false,
  stateVectors: () => 1,
  update({ numpy }, { epsilon = EPSILON, weightDecay = 0 }, step) {
    const { weight, learningRate } = step;
    const gradient =
      weightDecay === 0
        ? step.gradient
        : step.gradient.add(weight.ref.mul(weightDecay));
    const squares = step.state[0]!.add(numpy.square(gradient.ref));
    const root = numpy.sqrt(squares.ref).add(epsilon);
    const change = gradient.div(root).mul(learningRate);
    return { weight: weight.sub(change), state: [squares] };
  },
  stepInArena(kernels, { epsilon = EPSILON, weightDecay = 0 }, step) {
    const { factor, gradient, rate, state, weights } = step;
    const settings = { epsilon, factor, rate, weightDecay };
    kernels.optimization.adagrad(weights, state[0]!, gradient, settings);
  },
  tableRule({ epsilon = EPSILON, weightDecay = 0 }, rate) {
    return (weights, gradient, [state]) => {
      const squares = state!;
      const move = (i: number): void => {
        const w = weights[i]!;
        const g = gradient[i]! + weightDecay * w;
        if (g === 0) return;
        const s = Math.fround(squares[i]! + g * g);
        squares[i] = s;
        weights[i] = w - (rate * g) / (Math.sqrt(s) + epsilon);
      };
      if (weightDecay === 0) forEachUsed(gradient, move);
      else for (let i = 0; i < weights.length; i++) move(i);
    };
  },
};
