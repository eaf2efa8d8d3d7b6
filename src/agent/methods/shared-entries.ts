/**
 * Values at indices that all ranks share, which therefore reduce densely: no index is sent
 * with them, and there is no fill-in for any P.
 */
import type { Combined, Payload } from '../memory/payload.ts';
import type { Vector } from '../memory/arena.ts';
import type { Entries } from '../work/selection.ts';
import type { Work } from '../work/work.ts';
import type { ExchangeStatistics } from './method.ts';

/** The values of entries, as sent. */
export function valuesPayload({ offset, length }: Vector): Payload {
  return { kind: 'dense', length, data: { offset, bytes: 4 * length } };
}

/** out ← the values' average over ranks at the entries' indices, 0 elsewhere. */
export function scatterAverage<V>(
  work: Work<V>,
  entries: Entries<V>,
  combined: Combined,
  out: V,
  world: number,
): ExchangeStatistics {
  if (combined.form !== 'dense') {
    throw new Error(`internal: values at shared indices cannot be ${combined.form}`);
  }
  const { count } = entries;
  entries.setValues({ offset: combined.data.offset, length: count });
  work.clear(out);
  entries.addTo(out, 1 / world);
  return { nnzLocal: count, nnzReduced: count };
}
