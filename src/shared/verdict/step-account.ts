/**
 * The account of a step: what each of its milliseconds is spent on, from the run's own records.
 * The parts add up to the step, so that the largest is what bounds it, and what a remedy removes
 * is what its part says. Every part is a series over iterations, hence has an interval.
 */
import { meanInterval, type Estimate } from '../numbers/mean-interval.ts';
import { coreTime, coreWait, type Crowd } from './core-crowding.ts';
import type { LatencyRange } from './emulated-links.ts';
import { sumOfSeries as sum, type StepSeries } from './step-series.ts';
import { Lateness, type Straggler } from './straggler.ts';

/** Parts of a step, by what would shorten them. */
export type AccountPart =
  | 'compute'
  | 'data'
  | 'cores'
  | 'straggler'
  | 'lateness'
  | 'bandwidth'
  | 'latency'
  | 'exchange'
  | 'compression'
  | 'reduction'
  | 'bubble'
  | 'other';

export interface StepAccount {
  readonly step: Estimate;
  /** Milliseconds of a step by part; parts that take no time are left out. */
  readonly parts: ReadonlyMap<AccountPart, Estimate>;
  /**
   * Milliseconds that a step takes at least without a part, where it saves more than that: ranks wait for the one
   * whose data or core came last, and bytes that a rank does not see move, move nevertheless.
   */
  readonly without: ReadonlyMap<AccountPart, Estimate>;
  /** The largest part. */
  readonly bound: AccountPart;
  /** The second largest, if it is not clear which of the two is larger. */
  readonly rival: AccountPart | undefined;
  readonly straggler: Straggler | undefined;
  /** The part of its time in which a rank waits for a core, 0…1. */
  readonly coreWait: number;
  /** Whether a machine has more ranks than cores. */
  readonly isCrowded: boolean;
}

export interface AccountFacts {
  readonly ranks: number;
  /** Milliseconds of the exchange in which bytes are in flight; undefined if not seen. */
  readonly flight: number | undefined;
  /** Whether the link's bandwidth is known, so that `flight` is no wait for a core. */
  readonly isLinkKnown: boolean;
  /** Milliseconds of a message between ranks, on their nearest and farthest link, if known. */
  readonly latency?: LatencyRange | undefined;
  readonly crowd: Crowd | undefined;
}

/** @param series of at least one iteration */
export function accountOf(series: StepSeries, facts: AccountFacts): StepAccount {
  const { step } = series;
  const total = sum(step);
  const { flight, isLinkKnown, crowd } = facts;
  const straggler = stragglerOf(series, facts.ranks);
  const underway = messagesUnderway(series, straggler?.rank, mostUnderway(facts));
  const exchanges = series.exchange.map((time, at) => time + underway[at]!);
  const exchange = sum(exchanges);
  const certain = certainlyUnderway(exchanges, facts);
  const lateness = sum(series.lateness) - sum(underway);
  const bubble = sum(series.parts.bubble);
  const busy = total - exchange - lateness - bubble;
  const wait = crowd === undefined ? 0 : coreWait(crowd, busy, total);
  const moving =
    flight === undefined || exchange === 0
      ? 0
      : Math.min(1, (flight * step.length) / exchange);
  const isOwn = flight === undefined;

  const parts = new Map<AccountPart, number[]>();
  const add = (part: AccountPart, at: number, time: number): void => {
    const list = parts.get(part) ?? new Array<number>(step.length).fill(0);
    list[at]! += time;
    parts.set(part, list);
  };
  const saved = savingsOf(series, facts, wait, exchanges, moving);
  for (let at = 0; at < step.length; at++) {
    const isAwaited = series.last[at] === straggler?.rank;
    // A core that is not there lengthens all that a rank does itself.
    const shared = (part: AccountPart, time: number): void => {
      add(part, at, time * (1 - wait));
      if (wait > 0) add('cores', at, time * wait);
    };
    // While the others wait for the straggler, their own parts are what it would leave of the step.
    const own = isAwaited ? series.others : series.parts;
    shared('compute', own.compute[at]! + own.apply[at]!);
    shared('data', own.data[at]!);
    shared('compression', own.compression[at]!);
    shared('reduction', own.reduction[at]!);
    shared('other', own.other[at]!);
    add('bubble', at, own.bubble[at]!);
    const bytes = exchanges[at]! * moving;
    if (isLinkKnown) add('bandwidth', at, bytes);
    else shared('bandwidth', bytes);
    const rest = exchanges[at]! - bytes;
    const known = Math.min(rest, certain);
    const part = isOwn ? 'exchange' : 'latency';
    // A message that is underway wants no core.
    if (known > 0) add(part, at, known);
    shared(part, rest - known);
    const late = series.lateness[at]! - underway[at]!;
    const awaited = isAwaited ? late + excessAt(series, at) : 0;
    // Ranks that keep pace wait for one another, too. Where they share cores, that cannot be told from these.
    const paced = wait > 0 ? 0 : Math.min(awaited, series.pacedLateness[at]!);
    const among = isAwaited ? paced : late;
    if (isAwaited) add('straggler', at, awaited - among);
    add(wait > 0 ? 'cores' : 'lateness', at, among);
  }
  const present = [...parts].filter(([, times]) => times.some((time) => time > 0));
  const sums = new Map(present.map(([part, times]) => [part, sum(times)]));
  const order = present.toSorted(([a], [b]) => sums.get(b)! - sums.get(a)!);
  const [first, second] = order;
  return {
    step: meanInterval(step),
    parts: new Map(present.map(([part, times]) => [part, meanInterval(times)])),
    without: new Map(
      [...saved].map(([part, times]) => [
        part,
        meanInterval(times.map((time, at) => Math.max(0, step[at]! - time))),
      ]),
    ),
    bound: first?.[0] ?? 'other',
    rival:
      first !== undefined && second !== undefined && !isLarger(first[1], second[1])
        ? second[0]
        : undefined,
    straggler,
    coreWait: wait,
    isCrowded: crowd !== undefined,
  };
}

/**
 * Milliseconds that go without a part, and what ranks wait for because of it, iteration by iteration.
 * @param moving the part of the exchange in which bytes are in flight
 */
function savingsOf(
  series: StepSeries,
  facts: AccountFacts,
  wait: number,
  exchanges: readonly number[],
  moving: number,
): ReadonlyMap<AccountPart, readonly number[]> {
  const { crowd, flight, isLinkKnown, latency } = facts;
  const { own, parts, reading, step } = series;
  const savings = new Map<AccountPart, readonly number[]>([['data', reading]]);
  if (flight !== undefined) {
    // Fewer bytes are summed, too.
    const bytes = isLinkKnown ? step.map(() => flight) : series.moving;
    const summed = bytes.map((time, at) => time + parts.reduction[at]!);
    savings.set('bandwidth', summed);
  }
  if (crowd !== undefined && wait > 0) {
    // In the shortest exchange ranks waited least for anything but its messages.
    const shortest = Math.min(...exchanges);
    const certain = Math.min(
      shortest,
      (isLinkKnown ? shortest * moving : 0) + (latency?.least ?? 0),
    );
    const exchange = certain + (1 - wait) * (shortest - certain);
    savings.set(
      'cores',
      step.map((time, at) => Math.max(0, time - coreTime(own[at]!, crowd) - exchange)),
    );
  }
  return savings;
}

/** Milliseconds that the rank which arrived last adds to the mean of all: its own time beyond the others’. */
const excessAt = ({ parts, others }: StepSeries, at: number): number =>
  Object.entries(parts).reduce(
    (sum, [name, times]) => sum + times[at]! - others[name as keyof typeof others][at]!,
    0,
  );

/**
 * Lateness that is no waiting for a rank, but for messages that are underway. All ranks do not end an
 * exchange together: whoever ends it later begins its next step later, finds the messages of the
 * others there, and makes up for it, so that its step is shorter. What it was behind is the time of messages,
 * not its own. Two ranks on a link of 20 ms are ahead in turn, and each step takes the
 * computing and the link. A rank that is always last is not behind, as all steps take the same then:
 * against it, all lateness counts.
 * @param most milliseconds that messages can explain
 */
const messagesUnderway = (
  { behind, last, lateness }: StepSeries,
  straggler: number | undefined,
  most: number,
): readonly number[] =>
  lateness.map((late, at) =>
    last[at] === straggler ? 0 : Math.min(late, most, Math.max(0, behind[at]!)),
  );

/**
 * Milliseconds of each exchange that no core would shorten: at least a message, and the shortest
 * exchange as far as messages explain it, since in that one ranks waited least for anything else.
 */
const certainlyUnderway = (
  exchanges: readonly number[],
  facts: AccountFacts,
): number =>
  facts.latency === undefined
    ? 0
    : Math.max(facts.latency.least, Math.min(mostUnderway(facts), ...exchanges));

/**
 * The most that messages of a step can be underway one after another: no collective has more than 2(P − 1) in
 * a row. Where the link is not known, a rank without a core looks the same, so nothing is counted as messages
 * where ranks share cores.
 */
function mostUnderway({ crowd, latency, ranks }: AccountFacts): number {
  if (latency !== undefined) return 2 * (ranks - 1) * latency.most;
  return crowd === undefined ? Infinity : 0;
}

/** Whether one series is larger than the other beyond doubt, iteration by iteration. */
const isLarger = (one: readonly number[], other: readonly number[]): boolean =>
  meanInterval(one.map((value, at) => value - other[at]!)).low > 0;

/** The straggler of the iterations in a series. */
function stragglerOf(series: StepSeries, ranks: number): Straggler | undefined {
  const lateness = new Lateness(ranks);
  lateness.count(series.step.length, sum(series.step));
  for (const [at, rank] of series.last.entries())
    lateness.against[rank]! += series.lateness[at]!;
  return lateness.straggler;
}
