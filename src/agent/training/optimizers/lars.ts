/**
 * LARS (You, Gitman and Ginsburg, "Large Batch Training of Convolutional Networks", 2017):
 * momentum SGD with its own rate for each tensor, η·κ·‖w‖ ⁄ (‖g‖ + λ·‖w‖), so that no
 * layer moves by more than a share κ of its norm. v ← μ·v + rate·(g + λ·w), w ← w − v.
 * Vectors (biases, scales) take plain steps without decay, as is usual. Here the velocity is
 * kept without η, which a schedule changes.
 */
import { scaledNorm } from '../runtime/block-sum.ts';
import type { Optimizer } from './optimizer.ts';

/** κ, of the paper's ResNet-50. */
const TRUST = 0.001;

export const lars: Optimizer = {
  id: 'lars',
  title: 'LARS',
  summary:
    'SGD with a rate for each tensor, so that none moves by more than a share of its norm: for large batches.',
  source: 'You, Gitman and Ginsburg (2017)',
  options: ['trust', 'weightDecay'],
  leavesMomentum: true,
  stateVectors: ({ momentum }) => (momentum > 0 ? 1 : 0),
  update(jax, { momentum, trust = TRUST, weightDecay = 0 }, step) {
    const { numpy } = jax;
    const { weight, state, learningRate, isVector } = step;
    let { gradient } = step;
    if (!isVector) {
      const norm = (array: typeof weight) => {
        const scaled = scaledNorm(jax, [array]);
        return scaled.norm.div(scaled.scale);
      };
      const ofWeight = norm(weight);
      const ofGradient = norm(gradient).add(ofWeight.ref.mul(weightDecay));
      // Where either is 0 there is nothing to compare.
      const known = numpy.logicalAnd(
        numpy.greater(ofWeight.ref, 0),
        numpy.greater(ofGradient.ref, 0),
      );
      const ratio = numpy.where(
        known,
        ofWeight.mul(trust).div(numpy.maximum(ofGradient, 1e-30)),
        1,
      );
      gradient = gradient.add(weight.ref.mul(weightDecay)).mul(ratio);
    }
    const [velocity] = state;
    const next =
      velocity === undefined ? gradient : velocity.mul(momentum).add(gradient);
    const moved = weight.sub(next.ref.mul(learningRate));
    if (velocity !== undefined) return { weight: moved, state: [next] };
    next.dispose();
    return { weight: moved, state: [] };
  },
};
