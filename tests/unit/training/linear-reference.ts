/** Linear classifiers in plain TypeScript, in f64: mean loss, hits and gradient of a batch. */

export interface PlainSample {
  readonly label: number;
  readonly features: readonly number[];
  readonly values: readonly number[];
}

export interface LinearResult {
  readonly loss: number;
  readonly hits: number;
  /** Of the weights, then of the bias. */
  readonly gradient: Float64Array;
}

export function linearStep(
  kind: 'logistic' | 'hinge',
  parameters: ArrayLike<number>,
  samples: readonly PlainSample[],
): LinearResult {
  const bias = parameters.length - 1;
  const gradient = new Float64Array(parameters.length);
  let loss = 0;
  let hits = 0;
  for (const { label, features, values } of samples) {
    let score = parameters[bias]!;
    for (const [i, feature] of features.entries()) {
      score += parameters[feature]! * values[i]!;
    }
    const side = label === 1 ? 1 : -1;
    const margin = side * score;
    hits += margin > 0 ? 1 : 0;
    // Of the loss, by the score.
    let slope: number;
    if (kind === 'logistic') {
      loss += Math.max(0, -margin) + Math.log1p(Math.exp(-Math.abs(margin)));
      slope = -side / (1 + Math.exp(margin));
    } else {
      loss += Math.max(0, 1 - margin);
      slope = margin < 1 ? -side : 0;
    }
    for (const [i, feature] of features.entries()) {
      gradient[feature]! += (slope * values[i]!) / samples.length;
    }
    gradient[bias]! += slope / samples.length;
  }
  return { loss: loss / samples.length, hits, gradient };
}
