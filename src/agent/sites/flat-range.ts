/** A range of a flat vector in the arena. */
import type { Vector } from '../memory/arena.ts';
import type { FlatRange } from '../plan/residual-transition.ts';

export const rangeOf = ({ offset }: Vector, { start, length }: FlatRange): Vector => ({
  offset: offset + 4 * start,
  length,
});
