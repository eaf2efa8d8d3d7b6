/**
 * FNN-3 in plain TypeScript and f64: forward pass and mean cross-entropy of a batch, the
 * oracle for the compiled one.
 */
const widths = [784, 200, 200, 10];

/** Scores [rows][10] of flat weights in the model's order. */
export function referenceLogits(
  weights: ArrayLike<number>,
  inputs: readonly ArrayLike<number>[],
): number[][] {
  return inputs.map((input) => {
    let values = Array.from(input);
    let start = 0;
    for (let layer = 0; layer + 1 < widths.length; layer++) {
      const inputCount = widths[layer]!;
      const outputCount = widths[layer + 1]!;
      const biases = start + inputCount * outputCount;
      const next = Array.from({ length: outputCount }, (_, j) => weights[biases + j]!);
      for (let i = 0; i < inputCount; i++) {
        const value = values[i]!;
        if (value === 0) continue;
        for (let j = 0; j < outputCount; j++) {
          next[j] = next[j]! + value * weights[start + i * outputCount + j]!;
        }
      }
      start = biases + outputCount;
      values = layer + 2 < widths.length ? next.map((v) => Math.max(0, v)) : next;
    }
    return values;
  });
}

/** −log softmax(logits)[label]. */
export function referenceLoss(logits: readonly number[], label: number): number {
  const highest = Math.max(...logits);
  const sum = logits.reduce((total, z) => total + Math.exp(z - highest), 0);
  return Math.log(sum) + highest - logits[label]!;
}
