/**
 * Bounds the observations of a run that was evaluated very often. Of each of equal stretches stay
 * the first, the last and the best ones, so that a target is reached in the same stretch as
 * before.
 */
import {
  MOST_OBSERVATIONS,
  type Observation,
} from '../../shared/comparison/compared-run.ts';

/** Observations that stay of a stretch: first, last, least and greatest loss and metric. */
const KEPT = 6;

export function thinned(all: readonly Observation[]): readonly Observation[] {
  if (all.length <= MOST_OBSERVATIONS) return all;
  const stretches = Math.floor(MOST_OBSERVATIONS / KEPT);
  const kept = new Set<Observation>();
  for (let stretch = 0; stretch < stretches; stretch++) {
    const part = all.slice(
      Math.floor((stretch * all.length) / stretches),
      Math.floor(((stretch + 1) * all.length) / stretches),
    );
    for (const one of [part[0], part.at(-1)]) if (one !== undefined) kept.add(one);
    for (const field of ['loss', 'metric'] as const) {
      for (const sign of [1, -1]) {
        const best = extreme(part, field, sign);
        if (best !== undefined) kept.add(best);
      }
    }
  }
  return all.filter((one) => kept.has(one));
}

/** The first observation with the greatest (1) or least (−1) value. */
function extreme(
  part: readonly Observation[],
  field: 'loss' | 'metric',
  sign: number,
): Observation | undefined {
  let best: Observation | undefined;
  for (const one of part) {
    const [value, least] = [one[field], best?.[field]];
    if (value === undefined) continue;
    if (least === undefined || sign * value > sign * least) best = one;
  }
  return best;
}
