/** Seeded random numbers, for results that no run gave. */

/** Uniform numbers in 0…1: Marsaglia's xorshift of 32 bits. */
export function uniform(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return ((state >>> 0) + 0.5) / 2 ** 32;
  };
}

/** Normal numbers with mean 0 and deviation 1 (Box and Muller). */
export function normal(seed: number): () => number {
  const next = uniform(seed);
  return () => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next());
}

/** Numbers with mean 0, deviation 1 and heavy tails: Laplace's. */
export function laplace(seed: number): () => number {
  const next = uniform(seed);
  return () => {
    const u = next() - 0.5;
    return (-Math.sign(u) * Math.log(1 - 2 * Math.abs(u))) / Math.SQRT2;
  };
}
