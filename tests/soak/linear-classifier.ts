/**
 * Softmax regression in plain TypeScript: how far a linear model gets on a data set. By
 * mini-batch gradient descent with a rate that falls to 0, so that it converges.
 */
import type { ByteSamples } from '../../src/agent/training/datasets/byte-dataset.ts';
import { RandomSequence } from '../../src/agent/training/runtime/random-sequence.ts';

const classes = 10;
const batch = 64;

/** The best test accuracy over all epochs, the most that stopping early could give. */
export function bestLinearAccuracy(
  train: ByteSamples,
  test: ByteSamples,
  options: { readonly rate: number; readonly epochs: number },
): number {
  const pixels = train.values.length / train.count;
  const weights = new Float64Array((pixels + 1) * classes);
  const gradient = new Float64Array(weights.length);
  const scores = new Float64Array(classes);
  const random = new RandomSequence({ seed: 1 });

  const score = (samples: ByteSamples, sample: number): void => {
    scores.set(weights.subarray(pixels * classes));
    for (let i = 0; i < pixels; i++) {
      const value = samples.values[sample * pixels + i]!;
      if (value === 0) continue;
      for (let c = 0; c < classes; c++) {
        scores[c] = scores[c]! + (value / 255) * weights[i * classes + c]!;
      }
    }
  };
  const accumulate = (sample: number): void => {
    score(train, sample);
    const highest = Math.max(...scores);
    let sum = 0;
    for (let c = 0; c < classes; c++) sum += scores[c] = Math.exp(scores[c]! - highest);
    for (let c = 0; c < classes; c++) {
      scores[c] = scores[c]! / sum - (c === train.labels[sample] ? 1 : 0);
    }
    for (let i = 0; i <= pixels; i++) {
      const value = i === pixels ? 255 : train.values[sample * pixels + i]!;
      if (value === 0) continue;
      for (let c = 0; c < classes; c++) {
        gradient[i * classes + c] =
          gradient[i * classes + c]! + (value / 255) * scores[c]!;
      }
    }
  };
  const accuracy = (): number => {
    let right = 0;
    for (let sample = 0; sample < test.count; sample++) {
      score(test, sample);
      if (scores.indexOf(Math.max(...scores)) === test.labels[sample]) right++;
    }
    return right / test.count;
  };

  const order = Uint32Array.from({ length: train.count }, (_, i) => i);
  let best = 0;
  for (let epoch = 0; epoch < options.epochs; epoch++) {
    for (let i = order.length - 1; i > 0; i--) {
      const j = random.below(i + 1);
      [order[i], order[j]] = [order[j]!, order[i]!];
    }
    const rate = options.rate * (1 - epoch / options.epochs);
    for (let first = 0; first < train.count; first += batch) {
      const members = order.subarray(first, first + batch);
      gradient.fill(0);
      for (const sample of members) accumulate(sample);
      for (let i = 0; i < weights.length; i++) {
        weights[i] = weights[i]! - (rate / members.length) * gradient[i]!;
      }
    }
    best = Math.max(best, accuracy());
  }
  return best;
}
