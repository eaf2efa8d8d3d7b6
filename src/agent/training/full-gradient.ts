/** The mean gradient of all training samples of a rank, each counted once, batch by batch. */

export interface FullGradientOptions {
  /** Samples in all, and in a full batch. */
  readonly samples: number;
  readonly batch: number;
  /** Writes the gradient of these samples, divided by the size of a full batch, over `part`. */
  readonly gradientOf: (
    first: number,
    rows: number,
    part: Float32Array,
  ) => Promise<void>;
}

/** @param out as long as the gradient */
export async function fullGradient(
  { batch, gradientOf, samples }: FullGradientOptions,
  out: Float32Array,
): Promise<void> {
  const sum = new Float64Array(out.length);
  const part = new Float32Array(out.length);
  for (let first = 0; first < samples; first += batch) {
    part.fill(0);
    await gradientOf(first, Math.min(batch, samples - first), part);
    for (let i = 0; i < sum.length; i++) sum[i] = sum[i]! + part[i]!;
  }
  for (let i = 0; i < sum.length; i++) out[i] = (sum[i]! * batch) / samples;
}
