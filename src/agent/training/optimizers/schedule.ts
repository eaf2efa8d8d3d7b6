/**
 * How the learning rate changes over a run of T iterations. At t = 0 every schedule
 * gives the full rate; `linear` and `cosine` reach 0 at t = T, which is one past the
 * last iteration, so that no step is lost.
 */
export type Schedule = 'constant' | 'cosine' | 'linear';

export function scheduledRate(
  schedule: Schedule,
  rate: number,
  iteration: number,
  iterations: number,
): number {
  const share = Math.min(1, iteration / iterations);
  switch (schedule) {
    case 'constant':
      return rate;
    case 'linear':
      return rate * (1 - share);
    case 'cosine':
      return (rate * (1 + Math.cos(Math.PI * share))) / 2;
  }
}
