/** The ratio of a configuration's costs to those of another. */
import {
  ratioInterval,
  ratioOf,
  type RatioInterval,
  type SeedCosts,
} from './bootstrap.ts';

/** Costs of a group; undefined unless all its runs reached the target. */
export type GroupCosts =
  | {
      /** Costs by seed. */
      readonly reached: SeedCosts;
      /** Costs by seed at the evaluation before. */
      readonly tooFew: SeedCosts;
    }
  | undefined;

/** Times as fast: the other's mean cost over one's own; with an interval if the seeds suffice. */
export interface Speedup extends Partial<Omit<RatioInterval, 'ratio'>> {
  readonly ratio: number;
}

export function speedupOf(
  own: GroupCosts,
  other: GroupCosts,
  level: number,
): Speedup | undefined {
  if (own === undefined || other === undefined) return undefined;
  const interval = ratioInterval(own.reached, other.reached, level, {
    own: own.tooFew,
    other: other.tooFew,
  });
  if (interval !== undefined) return interval;
  const ratio = ratioOf(own.reached, other.reached);
  return ratio === undefined ? undefined : { ratio };
}
