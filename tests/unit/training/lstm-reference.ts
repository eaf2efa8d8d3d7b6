/**
 * An LSTM language model in plain TypeScript and f64, one window and one unit at a time:
 * the oracle for the compiled one.
 */

export interface LstmSizes {
  readonly vocabulary: number;
  readonly embedding: number;
  readonly hidden: number;
  readonly layers: number;
  readonly steps: number;
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** The summed cross-entropy of each window, of flat weights in the model's order. */
export function lstmLosses(
  weights: ArrayLike<number>,
  windows: readonly ArrayLike<number>[],
  { vocabulary, embedding, hidden, layers, steps }: LstmSizes,
): number[] {
  return windows.map((window) => {
    const outputs = Array.from({ length: layers }, () => new Float64Array(hidden));
    const cells = Array.from({ length: layers }, () => new Float64Array(hidden));
    let loss = 0;
    for (let step = 0; step < steps; step++) {
      let place = vocabulary * embedding;
      const token = window[step]!;
      let values: number[] = Array.from(
        { length: embedding },
        (_, i) => weights[token * embedding + i]!,
      );
      for (let layer = 0; layer < layers; layer++) {
        const inputs = place;
        const states = inputs + values.length * 4 * hidden;
        const biases = states + hidden * 4 * hidden;
        place = biases + 2 * 4 * hidden;
        const before = Float64Array.from(outputs[layer]!);
        const gate = (which: number, unit: number): number => {
          const column = which * hidden + unit;
          let sum = weights[biases + column]! + weights[biases + 4 * hidden + column]!;
          for (const [i, value] of values.entries()) {
            sum += value * weights[inputs + i * 4 * hidden + column]!;
          }
          for (let i = 0; i < hidden; i++) {
            sum += before[i]! * weights[states + i * 4 * hidden + column]!;
          }
          return sum;
        };
        const next: number[] = [];
        for (let unit = 0; unit < hidden; unit++) {
          const cell =
            sigmoid(gate(1, unit)) * cells[layer]![unit]! +
            sigmoid(gate(0, unit)) * Math.tanh(gate(2, unit));
          cells[layer]![unit] = cell;
          next.push(sigmoid(gate(3, unit)) * Math.tanh(cell));
        }
        outputs[layer]!.set(next);
        values = next;
      }
      const scores = Array.from({ length: vocabulary }, (_, word) => {
        let score = weights[place + hidden * vocabulary + word]!;
        for (let i = 0; i < hidden; i++) {
          score += values[i]! * weights[place + i * vocabulary + word]!;
        }
        return score;
      });
      const normalizer = scores.reduce((sum, score) => sum + Math.exp(score), 0);
      loss += Math.log(normalizer) - scores[window[step + 1]!]!;
    }
    return loss;
  });
}
