/**
 * The chain of spans and messages that decided how long an iteration took. It is found from its
 * end, on the rank that ends last, backwards: through what a thread did; where it waited for a
 * message, along that message to its sender; where it waited for another thread of its rank, to
 * that thread. A shorter span on the chain would have shortened the iteration, until another chain
 * was longest.
 *
 * Cost: a step for each span and message of the chain, each with a binary search. Times are those
 * of the timeline, so that clocks are corrected as far as they are known; a message that would
 * arrive before it was sent is not followed.
 *
 * Source: the critical path of message-passing programs, as in C.-Q. Yang and B. Miller, "Critical
 * Path Analysis for the Execution of Parallel and Distributed Programs" (1988).
 */
import { PHASES, type Phase } from '../../../shared/records/phases.ts';
import { AwaitedMessages, NOTICING } from './awaited-messages.ts';
import {
  firstAfter,
  type Lane,
  type Timeline,
} from '../../../shared/trace/timeline.ts';

export interface PathPart {
  /** The rank that was busy; of a message, the one that waited. */
  readonly rank: number;
  /** Place of a lane and of its span; -1: nothing that was traced. */
  readonly lane: number;
  readonly span: number;
  /** Place of the message on whose way this time passed; -1: none. */
  readonly arrow: number;
  readonly from: number;
  readonly to: number;
}

/** The parts follow each other without a gap, from the iteration's begin to its end. */
export interface CriticalPath {
  readonly iteration: number;
  readonly from: number;
  readonly to: number;
  readonly parts: readonly PathPart[];
}

type Iteration = Timeline['iterations'][number];

/** The critical path of each iteration of a timeline, in their order. */
export function criticalPaths(timeline: Timeline): readonly CriticalPath[] {
  const search = new PathSearch(timeline);
  const last = new Map<number, Iteration>();
  for (const one of timeline.iterations) {
    const known = last.get(one.iteration);
    if (known === undefined || one.to > known.to) last.set(one.iteration, one);
  }
  return [...last.values()]
    .sort((a, b) => a.iteration - b.iteration)
    .map((end) => search.path(end));
}

class PathSearch {
  readonly #timeline: Timeline;
  readonly #awaited: AwaitedMessages;
  /** Places of lanes by rank. */
  readonly #lanesOf = new Map<number, number[]>();
  /** Begins of iterations by iteration and rank. */
  readonly #begins: ReadonlyMap<string, number>;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
    this.#awaited = new AwaitedMessages(timeline);
    for (const [place, { rank }] of timeline.lanes.entries()) {
      const own = this.#lanesOf.get(rank);
      if (own === undefined) this.#lanesOf.set(rank, [place]);
      else own.push(place);
    }
    this.#begins = new Map(
      timeline.iterations.map((one) => [`${one.iteration} ${one.rank}`, one.from]),
    );
  }

  /** @param end the iteration on the rank where it ends last */
  path({ from, iteration, rank, to }: Iteration): CriticalPath {
    const { arrows, lanes } = this.#timeline;
    const walk = new Walk(rank, from, to);
    while (walk.moment > walk.begin) {
      const { moment } = walk;
      const place = this.#placeBefore(walk.rank, walk.lane, moment);
      if (place === undefined) {
        walk.pass(walk.begin);
        break;
      }
      const { lane, span } = place;
      walk.lane = lane;
      const own = lanes[lane]!;
      if (own.ends[span]! < moment) {
        walk.pass(own.ends[span]!);
        continue;
      }
      const awaited = this.#awaited.before(own, span, moment);
      if (typeof awaited !== 'object') {
        walk.pass(awaited ?? own.starts[span]!, { lane, span });
        continue;
      }
      const { arrow, until } = awaited;
      const { from: sender, sent } = arrows[arrow]!;
      const begin = this.#begins.get(`${iteration} ${sender}`) ?? walk.begin;
      walk.pass(until, { lane, span });
      if (sent <= begin) {
        // It belongs to the iteration before, which is not what is explained.
        walk.pass(walk.begin, { arrow });
        break;
      }
      walk.begin = begin;
      const senders = this.#lanesOf.get(sender)!;
      const engine = senders.find((one) => lanes[one]!.isEngine)!;
      walk.pass(sendingUntil(lanes[engine]!, sent, until), { arrow });
      walk.rank = sender;
      walk.lane = lanes[engine]!.isNetwork ? NO_LANE : engine;
    }
    return { iteration, from: walk.moment, to, parts: walk.parts.reverse() };
  }

  /**
   * The span in which a rank was just before a moment, on the same lane if possible; if it was in
   * none, the one that ended last.
   */
  #placeBefore(rank: number, lane: number, moment: number): Place | undefined {
    let best: Place | undefined;
    let latest = -Infinity;
    const own = this.#lanesOf.get(rank)!;
    for (const one of lane < 0 ? own : [lane, ...own]) {
      const { ends, starts } = this.#timeline.lanes[one]!;
      const span = lastBefore(starts, moment);
      if (span < 0) continue;
      // A short gap of the lane is no reason to leave it.
      const end = ends[span]! + (one === lane ? NOTICING : 0);
      if (end >= moment) return { lane: one, span };
      if (ends[span]! > latest) {
        latest = ends[span]!;
        best = { lane: one, span };
      }
    }
    return best;
  }
}

interface Place {
  readonly lane: number;
  readonly span: number;
}

/** The place of no lane: the rank's first one is looked at first, a program's own. */
const NO_LANE = -1;

/** A place on the way back, and what was passed. */
class Walk {
  readonly parts: PathPart[] = [];
  rank: number;
  /** The begin of the iteration on this rank. */
  begin: number;
  moment: number;
  lane = NO_LANE;

  constructor(rank: number, begin: number, moment: number) {
    this.rank = rank;
    this.begin = begin;
    this.moment = moment;
  }

  /** Goes back to a moment, though not to one before the begin. */
  pass(until: number, part: Partial<PathPart> = {}): void {
    const { moment: to, rank } = this;
    const from = Math.min(to, Math.max(this.begin, until));
    this.moment = from;
    // A message that was there when its sender had just sent it is a part of no length.
    if (from === to && part.arrow === undefined) return;
    this.parts.push({ rank, lane: -1, span: -1, arrow: -1, ...part, from, to });
  }
}

/** The last span that begins before a moment; -1: none. */
function lastBefore(starts: Float64Array, moment: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle]! >= moment) high = middle;
    else low = middle + 1;
  }
  return low - 1;
}

const SEND = PHASES.indexOf('send');

/** The moment until which the sender worked on a message, if before it was there. */
function sendingUntil(lane: Lane, sent: number, received: number): number {
  const span = firstAfter(lane, sent);
  const isIn = span < lane.starts.length && lane.starts[span]! <= sent;
  if (!isIn || lane.phases[span] !== SEND) return sent;
  return Math.min(lane.ends[span]!, received);
}

/** Time on critical paths in one phase of a rank; without a rank: waiting for messages. */
export interface PathSum {
  readonly phase: Phase;
  readonly rank: number | undefined;
  /** Nanoseconds. */
  readonly time: number;
}

/** Nanoseconds by `sumKey`. */
type PathTimes = Map<number, number>;

/** Times of whole paths, which a view of many asks for in each of its frames. */
const wholes = new WeakMap<CriticalPath, PathTimes>();

/** Waiting for messages is of no rank. */
const WAITING = -1;
const WAIT = PHASES.indexOf('wait');
const OTHER = PHASES.indexOf('other');

/** Sums of paths in a stretch of time, the largest first. */
export function pathSums(
  { lanes }: Pick<Timeline, 'lanes'>,
  paths: readonly CriticalPath[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly PathSum[] {
  const sums: PathTimes = new Map();
  for (const path of paths) {
    if (path.to <= from || path.from >= to) continue;
    const isWhole = path.from >= from && path.to <= to;
    let times = isWhole ? wholes.get(path) : undefined;
    times ??= timesOf(lanes, path, { from, to });
    if (isWhole) wholes.set(path, times);
    for (const [key, time] of times) sums.set(key, time + (sums.get(key) ?? 0));
  }
  return [...sums]
    .map(([key, time]) => ({
      phase: key === WAITING ? 'wait' : PHASES[key % PHASES.length]!,
      rank: key === WAITING ? undefined : Math.floor(key / PHASES.length),
      time,
    }))
    .sort((a, b) => b.time - a.time);
}

/** The times of a path's parts, as far as they lie in a stretch. */
function timesOf(
  lanes: readonly Lane[],
  { parts }: CriticalPath,
  stretch: { readonly from: number; readonly to: number },
): PathTimes {
  const times: PathTimes = new Map();
  for (const { arrow, from, lane, rank, span, to } of parts) {
    if (from >= stretch.to) break;
    const time = Math.min(to, stretch.to) - Math.max(from, stretch.from);
    if (time <= 0) continue;
    const phase = arrow >= 0 ? WAIT : lane < 0 ? OTHER : lanes[lane]!.phases[span]!;
    const key = phase === WAIT ? WAITING : rank * PHASES.length + phase;
    times.set(key, time + (times.get(key) ?? 0));
  }
  return times;
}
