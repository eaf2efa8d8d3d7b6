/**
 * The engine thread's stopwatch: at any moment of an exchange exactly one phase runs, so
 * phases are disjoint and add up to the exchange's time by construction. Synchronous work
 * names its phase; between pieces of work the thread is idle, and idle time belongs to
 * whatever the transport is waiting for. While a GPU works for a phase, idle time belongs
 * to that phase. Two clock readings per change of phase, about 0.1 µs.
 * Upholds invariant I7 (docs/architecture.md).
 */
import { zeroPhases, type Phase } from '../../shared/records/phases.ts';
import type { MessageHeader, TransportObserver } from '../transport/transport.ts';
import { NONE, type SpanLog } from './span-log.ts';
import { StreamTimes } from './stream-times.ts';

/** Times of an exchange, ms. */
export interface ExchangeTimes {
  readonly phases: Record<Phase, number>;
  /** The part of `wait` spent on each awaited rank. */
  readonly waitedFor: Record<number, number>;
}

export interface ExchangeProfile extends ExchangeTimes {
  /** The part of these before `hideUntil`, while the trainer computed. */
  readonly hidden?: ExchangeTimes | undefined;
  /** Time of compress, reduce and decompress, not hidden, while bytes were in flight, ms. */
  readonly overlapped: number;
  readonly wall: number;
}

export interface Stretch {
  readonly end: () => void;
  /**
   * Assigns the time since it began to this phase, unless other work has begun since.
   */
  readonly rename: (phase: Phase) => void;
}

type Waiting = Parameters<TransportObserver['waiting']>[0];

/** Time that has passed in a phase. */
interface Passed {
  readonly phase: Phase;
  /** The awaited rank. */
  readonly rank: number | undefined;
  readonly stream: number;
  readonly elapsed: number;
}

export class PhaseClock implements TransportObserver {
  /** Receives every span and message of exchanges while the run is traced. */
  log: SpanLog | undefined;
  /** Sums of each stream, over exchanges. */
  readonly streams = new StreamTimes();
  readonly #now: () => number;
  #phases = zeroPhases();
  #waitedFor: Record<number, number> = {};
  #overlapped = 0;
  #hidden: ExchangeTimes | undefined;
  /** The timeline of this exchange, in order, if part of it may be hidden. */
  #spans: Passed[] = [];
  #keepsSpans = false;
  #startedAt = 0;
  #since = 0;
  #running = false;
  /** The phase of the synchronous work under way; undefined while idle. */
  #work: Phase | undefined;
  /** The stream that the work is for. */
  #workStream = NONE;
  #waiting: Waiting = { kind: 'nothing' };
  #waitingStream = NONE;
  /** Phases of pending work elsewhere, oldest first. */
  readonly #elsewhere = new Set<{ readonly phase: Phase; readonly stream: number }>();

  /** @param now milliseconds since any moment */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @param hides whether `hideUntil` will be called */
  begin(hides = false): void {
    this.#spans = [];
    this.#keepsSpans = hides;
    this.log?.begin();
    this.#phases = zeroPhases();
    this.#waitedFor = {};
    this.#overlapped = 0;
    this.#hidden = undefined;
    this.#startedAt = this.#since = this.#now();
    this.#running = true;
  }

  /**
   * The time from the beginning to this moment was hidden under the trainer's work. May be called
   * late, when work in progress has ended.
   */
  hideUntil(moment: number): void {
    if (!this.#running) return;
    this.#settle();
    const phases = { ...this.#phases };
    const waitedFor = { ...this.#waitedFor };
    let end = this.#since;
    for (const { elapsed, phase, rank, stream } of this.#spans.toReversed()) {
      const late = Math.max(0, Math.min(elapsed, end - moment));
      phases[phase] -= late;
      if (rank !== undefined) waitedFor[rank] = waitedFor[rank]! - late;
      this.streams.hide(stream, phase, elapsed - late);
      end -= elapsed;
    }
    this.#hidden = { phases, waitedFor };
    this.#overlapped = 0;
    this.log?.hideUntil(moment);
  }

  end(): ExchangeProfile {
    this.#settle();
    this.#running = false;
    return {
      phases: this.#phases,
      waitedFor: this.#waitedFor,
      ...(this.#hidden === undefined ? {} : { hidden: this.#hidden }),
      overlapped: this.#overlapped,
      wall: this.#since - this.#startedAt,
    };
  }

  /**
   * Attributes synchronous work to a phase. Nested work interrupts the outer one.
   * @param stream the stream that it is for, if any
   */
  measure<T>(phase: Phase, work: () => T, stream = NONE): T {
    const leave = this.#enter(phase, stream);
    try {
      return work();
    } finally {
      leave();
    }
  }

  /**
   * Synchronous work until `end` is called, whose phase may become known only during the
   * work.
   */
  stretch(phase: Phase, stream = NONE): Stretch {
    const end = this.#enter(phase, stream);
    return {
      end,
      rename: (known) => {
        this.#work = known;
      },
    };
  }

  /**
   * Measures as `measure` does; if the work returns a promise, idle time until it settles belongs
   * to the phase, too.
   */
  follow<T>(phase: Phase, work: () => T, stream = NONE): T {
    const result = this.measure(phase, work, stream);
    if (!(result instanceof Promise)) return result;
    return result.finally(this.expect(phase, stream)) as T;
  }

  /**
   * Gives idle time from now on to the phase, with precedence over what the transport waits for,
   * until the returned function is called. If several phases are expected, the first one gets it.
   */
  expect(phase: Phase, stream = NONE): () => void {
    const entry = { phase, stream };
    this.#settle();
    this.#elsewhere.add(entry);
    return () => {
      this.#settle();
      this.#elsewhere.delete(entry);
    };
  }

  get traces(): boolean {
    return this.log !== undefined;
  }

  working(kind: 'send' | 'receive', stream = NONE): () => void {
    return this.#enter(kind, stream);
  }

  waiting(state: Waiting, stream = NONE): void {
    if (this.#work === undefined) this.#settle();
    this.#waiting = state;
    this.#waitingStream = stream;
  }

  sending(to: number, header: MessageHeader, bytes: number): void {
    if (this.#running) this.streams.sent(header.stream, bytes);
    this.#message(false, to, header, bytes);
  }

  delivered(from: number, header: MessageHeader, bytes: number): void {
    this.#message(true, from, header, bytes);
  }

  #message(
    received: boolean,
    peer: number,
    { sequence, stream }: MessageHeader,
    bytes: number,
  ): void {
    if (!this.#running) return;
    this.log?.message({ received, peer, stream, sequence, bytes, at: this.#now() });
  }

  #enter(phase: Phase, stream: number): () => void {
    this.#settle();
    const outer = this.#work;
    const outerStream = this.#workStream;
    this.#work = phase;
    this.#workStream = stream;
    return () => {
      this.#settle();
      this.#work = outer;
      this.#workStream = outerStream;
    };
  }

  /** Give the time since the last change to the phase that was running. */
  #settle(): void {
    const now = this.#now();
    const start = this.#since;
    const elapsed = now - start;
    this.#since = now;
    if (!this.#running) return;
    const waiting = this.#waiting;
    const [elsewhere] = this.#elsewhere;
    const work = this.#work ?? elsewhere?.phase;
    const phase = work ?? phaseOf(waiting);
    const rank =
      work === undefined && waiting.kind === 'first' ? waiting.rank : undefined;
    this.#phases[phase] += elapsed;
    if (rank !== undefined)
      this.#waitedFor[rank] = (this.#waitedFor[rank] ?? 0) + elapsed;
    const stream =
      this.#work === undefined
        ? (elsewhere?.stream ?? this.#waitingStream)
        : this.#workStream;
    this.streams.add(stream, phase, elapsed);
    if (this.#keepsSpans) this.#spans.push({ phase, rank, stream, elapsed });
    this.log?.span(phase, stream, rank ?? NONE, start, now);
    const inFlight = waiting.kind === 'rest' || waiting.kind === 'drain';
    const hides = work === 'compress' || work === 'reduce' || work === 'decompress';
    if (inFlight && hides) this.#overlapped += elapsed;
  }
}

/** The phase of an idle thread. */
function phaseOf({ kind }: Waiting): Phase {
  switch (kind) {
    case 'nothing':
      return 'other';
    case 'rest':
      return 'receive';
    case 'drain':
      return 'send';
    case 'first':
      return 'wait';
    default:
      return kind satisfies never;
  }
}
