/**
 * Messages that a rank waited for: an arrow that ends on an idle rank decided when the rank went
 * on. One that lay ready, or came while the rank was busy, did not.
 */
import { PHASES } from '../../../shared/records/phases.ts';
import type { Arrow } from '../../../shared/trace/message-arrows.ts';
import type { Lane, Timeline } from '../../../shared/trace/timeline.ts';

const WAIT = PHASES.indexOf('wait');
const RECEIVE = PHASES.indexOf('receive');

/**
 * Gaps between spans of a thread up to this number of nanoseconds are taken for its being woken:
 * they say nothing of what it waited for.
 */
export const NOTICING = 20_000;

/** A message that ended a wait. */
interface Awaited {
  /** Place in the timeline's arrows. */
  readonly arrow: number;
  /** The moment from which the rank no longer waited for it. */
  readonly until: number;
}

export class AwaitedMessages {
  readonly #arrows: readonly Arrow[];
  /** Places of arrows by receiver, and by receiver and sender, in the order of their ends. */
  readonly #to = new Map<number, number[]>();
  readonly #between = new Map<string, number[]>();
  readonly #idle = new Map<Lane, IdleSpans>();

  constructor({ arrows, lanes }: Pick<Timeline, 'arrows' | 'lanes'>) {
    this.#arrows = arrows;
    const places = arrows
      .map((_, place) => place)
      .sort(
        (a, b) =>
          arrows[a]!.received - arrows[b]!.received ||
          arrows[a]!.sent - arrows[b]!.sent,
      );
    for (const place of places) {
      const { from, to } = arrows[place]!;
      add(this.#to, to, place);
      add(this.#between, `${from} ${to}`, place);
    }
    for (const lane of lanes) {
      if (lane.isEngine) this.#idle.set(lane, idleSpansOf(lane));
    }
  }

  /**
   * The message that a rank waited for in a span until a moment of it. If none, a moment before
   * which it may have waited for one; undefined: it did not in this span.
   */
  before(lane: Lane, span: number, moment: number): Awaited | number | undefined {
    const idle = this.#idle.get(lane);
    const phase = lane.phases[span];
    if (idle === undefined || (phase !== WAIT && phase !== RECEIVE)) return undefined;
    const own = this.#to.get(lane.rank) ?? [];
    const last = this.#endedBy(own, moment) - 1;
    const arrow = own[last];
    const isWithin =
      arrow !== undefined && this.#arrows[arrow]!.received > lane.starts[span]!;
    if (!isWithin) return this.#next(lane, span, moment);
    const { from, received, sent } = this.#arrows[arrow]!;
    const before = this.#receivedBefore(own, last);
    const begin = Math.max(lane.starts[idle.first[span]!]!, before);
    const wait = idle.lastWait[span]!;
    const waits = wait >= 0 && lane.ends[wait]! > begin;
    const peer = waits ? lane.peers[wait]! : -1;
    // Without a wait, only a message that was sent since shows that the rank was idle.
    const isSince = lane.isNetwork ? sent > begin : sent >= begin;
    const isAwaited = waits ? peer < 0 || peer === from : isSince;
    return isAwaited && sent < received
      ? { arrow, until: received }
      : Math.max(before, lane.starts[span]!);
  }

  /** The message whose first bytes ended a wait, though its rest came after other work. */
  #next(lane: Lane, span: number, moment: number): Awaited | undefined {
    const end = lane.ends[span]!;
    if (lane.phases[span] !== WAIT || moment < end) return undefined;
    const own = this.#between.get(`${lane.peers[span]!} ${lane.rank}`) ?? [];
    const ended = (i: number): boolean => this.#arrows[own[i]!]!.received >= end;
    const arrow = own[firstThat(own.length, ended)];
    if (arrow === undefined || this.#arrows[arrow]!.sent >= end) return undefined;
    return { arrow, until: end };
  }

  /** The number of arrows, of some in the order of their ends, that end by a moment. */
  #endedBy(own: readonly number[], moment: number): number {
    return firstThat(own.length, (i) => this.#arrows[own[i]!]!.received > moment);
  }

  /** The moment at which the message before was received. */
  #receivedBefore(own: readonly number[], number: number): number {
    const { received } = this.#arrows[own[number]!]!;
    let before = number - 1;
    while (before >= 0 && this.#arrows[own[before]!]!.received === received) before--;
    return before < 0 ? -Infinity : this.#arrows[own[before]!]!.received;
  }
}

/** Places, for each span that waits or receives, of the first such in a row, and of the last wait. */
interface IdleSpans {
  readonly first: Int32Array;
  /** -1: none. */
  readonly lastWait: Int32Array;
}

function idleSpansOf({ ends, isNetwork, phases, starts }: Lane): IdleSpans {
  const first = new Int32Array(starts.length);
  const lastWait = new Int32Array(starts.length).fill(-1);
  let isIdle = false;
  for (let i = 0; i < starts.length; i++) {
    const follows = isIdle && starts[i]! - ends[i - 1]! <= NOTICING;
    isIdle = phases[i] === WAIT || phases[i] === RECEIVE;
    first[i] = follows ? first[i - 1]! : i;
    // A sum in flight waits for the others only as long as they have not handed over theirs.
    const waits = phases[i] === WAIT && !isNetwork;
    lastWait[i] = waits ? i : follows ? lastWait[i - 1]! : -1;
  }
  return { first, lastWait };
}

/** The first number below `length` that something holds for, as for all after it. */
function firstThat(length: number, holds: (number: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function add<K>(map: Map<K, number[]>, key: K, place: number): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [place]);
  else list.push(place);
}
