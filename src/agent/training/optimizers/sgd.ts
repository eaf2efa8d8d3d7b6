/**
 * Stochastic gradient descent with momentum: v ← μ·v + g, w ← w − η·v. The learning
 * rate is outside the velocity, so a schedule needs no rescaling of it. With μ = 0 there
 * is no velocity to keep: w ← w − η·g.
 */
import type { Optimizer } from './optimizer.ts';

export const sgd: Optimizer = {
  id: 'sgd',
  stateVectors: ({ momentum }) => (momentum > 0 ? 1 : 0),
  update({ momentum }, weight, gradient, state, learningRate) {
    const [velocity] = state;
    if (velocity === undefined) {
      return { weight: weight.sub(gradient.mul(learningRate)), state: [] };
    }
    const next = velocity.mul(momentum).add(gradient);
    return { weight: weight.sub(next.ref.mul(learningRate)), state: [next] };
  },
};
