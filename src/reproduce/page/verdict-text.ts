/** A verdict in one sentence, the same on the page and in the terminal. */
import type { Verdict } from '../figure.ts';

export function verdictText(verdict: Verdict): string {
  switch (verdict) {
    case 'confirmed':
      return 'The direction of the claim holds here.';
    case 'refuted':
      return 'The direction of the claim does not hold here, at this scale.';
    case 'undecided':
      return 'These runs cannot decide: the spread is larger than the effect, or the scale is too small.';
    default:
      return verdict satisfies never;
  }
}
