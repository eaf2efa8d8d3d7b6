/**
 * Stochastic gradient descent with momentum: v ← μ·v + g, w ← w − η·v. The learning
 * rate is outside the velocity, so a schedule needs no rescaling of it. With μ = 0 there
 * is no velocity to keep: w ← w − η·g. Nesterov's form looks ahead: w ← w − η·(g + μ·v)
 * (Sutskever et al., "On the importance of initialization and momentum in deep learning",
 * 2013, as PyTorch has it). Weight decay is that of the loss: g ← g + λ·w.
 */
import type { Optimizer } from './optimizer.ts';

export const sgd: Optimizer = {
  id: 'sgd',
  options: ['nesterov', 'weightDecay'],
  leavesMomentum: true,
  stateVectors: ({ momentum }) => (momentum > 0 ? 1 : 0),
  update(_, { momentum, nesterov = false, weightDecay = 0 }, step) {
    const { weight, state, learningRate } = step;
    const [velocity] = state;
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
  tableRule({ momentum, nesterov = false, weightDecay = 0 }, rate) {
    return (weights, gradient, [velocity]) => {
      if (velocity === undefined && weightDecay === 0) {
        moveUsed(weights, gradient, rate);
        return;
      }
      for (let i = 0; i < weights.length; i++) {
        const w = weights[i]!;
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

/**
 * w ← w − η·g where g is not 0. Two entries are looked at as one f64, which is 0 where both
 * are: 7 times as fast as one by one where hardly any is used.
 */
function moveUsed(weights: Float32Array, gradient: Float32Array, rate: number): void {
  const { buffer, byteOffset, length } = gradient;
  // A view of pairs has to begin at a multiple of 8 bytes.
  const first = byteOffset % Float64Array.BYTES_PER_ELEMENT === 0 ? 0 : 1;
  const pairCount = Math.max(0, (length - first) >> 1);
  const pairs = new Float64Array(
    buffer,
    byteOffset + first * Float32Array.BYTES_PER_ELEMENT,
    pairCount,
  );
  for (let pair = 0; pair < pairCount; pair++) {
    if (pairs[pair] === 0) continue;
    const i = first + 2 * pair;
    weights[i]! -= rate * gradient[i]!;
    weights[i + 1]! -= rate * gradient[i + 1]!;
  }
  if (first === 1 && length > 0) weights[0]! -= rate * gradient[0]!;
  const last = first + 2 * pairCount;
  if (last < length) weights[last]! -= rate * gradient[last]!;
}
