/**
 * The deviation z that a normal variable exceeds with probability `tail`, 0 < tail ≤ 1/2.
 * Within 4.5e-4: enough for a threshold that is then corrected by counting.
 *
 * Source: Hastings's approximation, Abramowitz and Stegun, formula 26.2.23.
 */
import { log } from '../../shared/numbers/portable-math.ts';

export function normalQuantile(tail: number): number {
  const t = Math.sqrt(-2 * log(tail));
  const numerator = 2.515517 + t * (0.802853 + t * 0.010328);
  const denominator = 1 + t * (1.432788 + t * (0.189269 + t * 0.001308));
  return Math.max(0, t - numerator / denominator);
}
