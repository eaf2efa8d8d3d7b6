/**
 * Times in which ranks were seen suspended, from a run's notices. A supervisor looks every two
 * seconds, so that both ends are later than what happened.
 */
import type { IterationRecord } from '../../../shared/records/iteration.ts';
import type { RunEvent } from '../../../shared/records/record-kinds.ts';

export interface Suspension {
  /** The name of the suspended: `rank 2`, or `ranks 0, 2 and the program of rank 1`. */
  readonly who: string;
  readonly isPlural: boolean;
  readonly from: number;
  /** Undefined if no later notice says that it ended. */
  readonly to: number | undefined;
}

interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** The time that ranks spent in an iteration, from the first one's start to the last one's end. */
export const stretchOf = (
  records: readonly Pick<IterationRecord, 'at' | 'wall'>[],
): Stretch => ({
  from: Math.min(...records.map(({ at }) => at)),
  to: Math.max(...records.map(({ at, wall }) => at + wall)),
});

/** Suspensions that overlap a stretch of time. */
export function suspensionsIn(
  events: readonly RunEvent[],
  { from, to }: Stretch,
): readonly Suspension[] {
  const told = events.filter(
    (event) =>
      event.type === 'notice' &&
      (event.code === 'RANKS_SUSPENDED' || event.code === 'RANKS_CONTINUED'),
  );
  return told.flatMap((event, index): readonly Suspension[] => {
    if (event.type !== 'notice' || event.code !== 'RANKS_SUSPENDED') return [];
    const end = told[index + 1]?.at;
    if (event.at > to || (end !== undefined && end < from)) return [];
    const [, who, verb] = /^(.*) (is|are) suspended/.exec(event.message) ?? [];
    if (who === undefined) return [];
    return [
      {
        who: who.replaceAll(/ \(process(?:es)? [^)]*\)/g, ''),
        isPlural: verb === 'are',
        from: event.at,
        to: end,
      },
    ];
  });
}

/**
 * A suspension in a sentence.
 * @param clock the text of a moment
 */
export function suspensionText(
  { from, isPlural, to, who }: Suspension,
  clock: (at: number) => string,
): string {
  const subject = `${who[0]!.toUpperCase()}${who.slice(1)}`;
  const until = to === undefined ? ' and later' : `–${clock(to)}`;
  return `${subject} ${isPlural ? 'were' : 'was'} seen suspended ${clock(from)}${until}.`;
}
