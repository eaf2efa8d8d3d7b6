/**
 * Times in which ranks were seen suspended, from a run's notices. A supervisor looks every two
 * seconds, so that both ends are later than what happened.
 */
import type { IterationRecord } from '../../../shared/records/iteration.ts';
import type { RunEvent } from '../../../shared/records/record-kinds.ts';

/** Ranks, and ranks whose programs, were seen suspended from and to the same moments. */
export interface Suspension {
  readonly ranks: readonly number[];
  readonly programs: readonly number[];
  readonly from: number;
  /** The end of the suspension; undefined if no later notice tells it. */
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

/** Suspensions that overlap a stretch of time, in the order in which they began. */
export function suspensionsIn(
  events: readonly RunEvent[],
  { from, to }: Stretch,
): readonly Suspension[] {
  const times = [...timesOf(events, 'ranks'), ...timesOf(events, 'programs')].filter(
    (time) => time.from <= to && (time.to ?? Infinity) >= from,
  );
  const ofKind = (of: readonly Time[], kind: Kind): readonly number[] =>
    of.filter((time) => time.kind === kind).map(({ rank }) => rank);
  return [...Map.groupBy(times, (time) => `${time.from} ${time.to ?? ''}`).values()]
    .map((same) => ({
      ranks: ofKind(same, 'ranks'),
      programs: ofKind(same, 'programs'),
      from: same[0]!.from,
      to: same[0]!.to,
    }))
    .toSorted((a, b) => a.from - b.from);
}

type Kind = 'ranks' | 'programs';

/** A time in which a rank was seen suspended, or its program was. */
interface Time {
  readonly kind: Kind;
  readonly rank: number;
  readonly from: number;
  to: number | undefined;
}

/**
 * Each machine tells of its own ranks alone. Processes that are gone are suspended no more, and nobody tells
 * of the new ones that they continued.
 */
function timesOf(events: readonly RunEvent[], kind: Kind): readonly Time[] {
  const all: Time[] = [];
  const open = new Map<number, Time>();
  const nodes = new Map<number, string>();
  const close = (ranks: Iterable<number>, at: number): void => {
    for (const rank of ranks) {
      const time = open.get(rank);
      if (time !== undefined) time.to = at;
      open.delete(rank);
    }
  };
  for (const event of events) {
    switch (event.type) {
      case 'started':
      case 'restarted':
        close(
          event.processes.map(({ rank }) => rank),
          event.at,
        );
        for (const { node, rank } of event.processes) nodes.set(rank, node);
        break;
      case 'interrupted':
        close(
          [...open.keys()].filter((rank) => nodes.get(rank) === event.node),
          event.at,
        );
        break;
      case 'failed':
      case 'done':
        close([...open.keys()], event.at);
        break;
      case 'notice': {
        const ranks = event[kind] ?? [];
        if (event.code === 'RANKS_CONTINUED') close(ranks, event.at);
        if (event.code !== 'RANKS_SUSPENDED') break;
        for (const rank of ranks) {
          if (open.has(rank)) continue;
          const time = { kind, rank, from: event.at, to: undefined };
          open.set(rank, time);
          all.push(time);
        }
        break;
      }
      default:
    }
  }
  return all;
}

/**
 * A suspension in a sentence.
 * @param clock the text of a moment
 */
export function suspensionText(
  { from, programs, ranks, to }: Suspension,
  clock: (at: number) => string,
): string {
  const who = [
    ...(ranks.length === 0 ? [] : [named(ranks)]),
    ...(programs.length === 0 ? [] : [`the program of ${named(programs)}`]),
  ].join(' and ');
  const subject = `${who[0]!.toUpperCase()}${who.slice(1)}`;
  const were = ranks.length + programs.length > 1 ? 'were' : 'was';
  const until = to === undefined ? ' and later' : `–${clock(to)}`;
  return `${subject} ${were} seen suspended ${clock(from)}${until}.`;
}

const named = (ranks: readonly number[]): string =>
  `${ranks.length === 1 ? 'rank' : 'ranks'} ${ranks.join(', ')}`;
