/** DLRM in plain TypeScript and f64, one sample and one unit at a time. */

export interface ClickRow {
  readonly dense: ArrayLike<number>;
  readonly categories: ArrayLike<number>;
  readonly label: number;
}

export interface DlrmSizes {
  /** Rows of the table. */
  readonly rows: number;
  readonly width: number;
  /** Units of the layers below and on top, inputs first. */
  readonly below: readonly number[];
  readonly above: readonly number[];
}

/** The log-odds and the log loss of a sample, of flat weights in the model's order. */
export function dlrmSample(
  weights: ArrayLike<number>,
  { dense, categories, label }: ClickRow,
  { rows, width, below, above }: DlrmSizes,
): { readonly score: number; readonly loss: number } {
  let place = rows * width;
  const layer = (inputs: readonly number[], units: number): number[] => {
    const biases = place + inputs.length * units;
    const outputs = Array.from({ length: units }, (_, unit) =>
      inputs.reduce(
        (sum, value, i) => sum + value * weights[place + i * units + unit]!,
        weights[biases + unit]!,
      ),
    );
    place = biases + units;
    return outputs;
  };
  const relu = (values: readonly number[]): number[] =>
    values.map((x) => Math.max(0, x));

  let values = Array.from(dense);
  for (const units of below.slice(1)) values = relu(layer(values, units));
  const vectors = [
    values,
    ...Array.from(categories, (row) =>
      Array.from({ length: width }, (_, k) => weights[row * width + k]!),
    ),
  ];
  const inputs = [...values];
  // All pairs once: each vector with the 13 that follow, counted round.
  for (const [i, vector] of vectors.entries()) {
    for (let d = 1; d <= (vectors.length - 1) / 2; d++) {
      const other = vectors[(i + d) % vectors.length]!;
      inputs.push(vector.reduce((sum, value, k) => sum + value * other[k]!, 0));
    }
  }
  values = inputs;
  for (const [i, units] of above.slice(1).entries()) {
    values = layer(i === 0 ? values : relu(values), units);
  }
  const score = values[0]!;
  const probability = 1 / (1 + Math.exp(-score));
  return { score, loss: -Math.log(label === 1 ? probability : 1 - probability) };
}
