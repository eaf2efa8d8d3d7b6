/**
 * Stochastic gradient descent with momentum: v ← μ·v + g, w ← w − η·v. The learning
 * rate is outside the velocity, so a schedule needs no rescaling of it. With μ = 0 there
 * is no velocity to keep: w ← w − η·g. Nesterov's form looks ahead: w ← w − η·(g + μ·v)
 * (Sutskever et al., "On the importance of initialization and momentum in deep learning",
 * 2013, as PyTorch has it). Weight decay is that of the loss: g ← g + λ·w.
 *
 * Where the gradient comes with a momentum of its own, from the compression, the decay has a
 * velocity for itself: v ← μ·v + λ·w, w ← w − η·g − η·v. Of a gradient sent whole that is
 * SGD with momentum again, as v is linear in both (so does the reference implementation of DGC).
 */
import type { Optimizer } from './optimizer.ts';
import { forEachUsed } from './used-entries.ts';

export const sgd: Optimizer = {
  id: 'sgd',
  title: 'SGD',
  summary: 'v ← μ·v + g, w ← w − η·v; without momentum w ← w − η·g.',
  source: 'Sutskever, Martens, Dahl and Hinton (ICML 2013)',
  options: ['nesterov', 'weightDecay'],
  leavesMomentum: true,
  movesByRate: true,
  stateVectors: ({ momentum }) => (momentum > 0 ? 1 : 0),
  decayHasVelocity: ({ momentum, weightDecay = 0 }) => momentum > 0 && weightDecay > 0,
  update(_, { momentum, nesterov = false, weightDecay = 0 }, step) {
    const { weight, state, learningRate } = step;
    const [velocity] = state;
    if (step.ofDecay === true) {
      const next = velocity!.mul(momentum).add(weight.ref.mul(weightDecay));
      const moved = weight.sub(step.gradient.mul(learningRate.ref));
      return { weight: moved.sub(next.ref.mul(learningRate)), state: [next] };
    }
    const gradient =
      weightDecay === 0
        ? step.gradient
        : step.gradient.add(weight.ref.mul(weightDecay));
    if (velocity === undefined) {
      return { weight: weight.sub(gradient.mul(learningRate)), state: [] };
    }
    if (!nesterov) {
      const next = velocity.mul(momentum).add(gradient);
      return { weight: weight.sub(next.ref.mul(learningRate)), state: [next] };
    }
    const next = velocity.mul(momentum).add(gradient.ref);
    const ahead = gradient.add(next.ref.mul(momentum));
    return { weight: weight.sub(ahead.mul(learningRate)), state: [next] };
  },
  stepInArena(kernels, { momentum, nesterov = false, weightDecay = 0 }, step) {
    const { factor, gradient, rate, weights } = step;
    const descent = { factor, rate, weightDecay };
    const [velocity] = step.state;
    const { optimization } = kernels;
    if (velocity === undefined) optimization.descend(weights, gradient, descent);
    else if (step.ofDecay) {
      kernels.blend(velocity, momentum, weights, weightDecay);
      optimization.descend(weights, gradient, { factor, rate, weightDecay: 0 });
      optimization.descend(weights, velocity, { factor: 1, rate, weightDecay: 0 });
    } else {
      const settings = { ...descent, momentum, nesterov };
      optimization.descendWithMomentum(weights, velocity, gradient, settings);
    }
  },
  tableRule({ momentum, nesterov = false, weightDecay = 0 }, rate) {
    return (weights, gradient, [velocity], ofDecay) => {
      if (velocity === undefined && weightDecay === 0) {
        forEachUsed(gradient, (i) => {
          weights[i]! -= rate * gradient[i]!;
        });
        return;
      }
      for (let i = 0; i < weights.length; i++) {
        const w = weights[i]!;
        if (ofDecay) {
          const v = Math.fround(momentum * velocity![i]! + weightDecay * w);
          velocity![i] = v;
          weights[i] = w - rate * (gradient[i]! + v);
          continue;
        }
        const g = gradient[i]! + weightDecay * w;
        if (velocity === undefined) weights[i] = w - rate * g;
        else {
          const v = Math.fround(momentum * velocity[i]! + g);
          velocity[i] = v;
          weights[i] = w - rate * (nesterov ? g + momentum * v : v);
        }
      }
    };
  },
};
