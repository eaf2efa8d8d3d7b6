/**
 * The engine thread's stopwatch: at any moment of an exchange exactly one phase runs, so
 * phases are disjoint and add up to the exchange's time by construction. Synchronous work
 * names its phase; between pieces of work the thread is idle, and idle time belongs to
 * whatever the transport is waiting for. While a GPU works for a phase, idle time belongs
 * to that phase. Two clock readings per change of phase, about 0.1 µs.
 */
import { zeroPhases, type Phase } from '../../shared/records/phases.ts';
import type { TransportObserver } from '../transport/transport.ts';

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

export class PhaseClock implements TransportObserver {
  readonly #now: () => number;
  #phases = zeroPhases();
  #waitedFor: Record<number, number> = {};
  #overlapped = 0;
  #hidden: ExchangeTimes | undefined;
  /** The timeline of this exchange, in order, if part of it may be hidden. */
  #spans: { phase: Phase; rank: number | undefined; elapsed: number }[] = [];
  #keepsSpans = false;
  #startedAt = 0;
  #since = 0;
  #running = false;
  /** The phase of the synchronous work under way; undefined while idle. */
  #work: Phase | undefined;
  #waiting: Waiting = { kind: 'nothing' };
  /** Phases of pending work elsewhere, oldest first. */
  readonly #elsewhere = new Set<{ readonly phase: Phase }>();

  /** @param now milliseconds since any moment */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @param hides whether `hideUntil` will be called */
  begin(hides = false): void {
    this.#spans = [];
    this.#keepsSpans = hides;
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
    for (const { elapsed, phase, rank } of this.#spans.toReversed()) {
      if (end <= moment) break;
      const late = Math.min(elapsed, end - moment);
      phases[phase] -= late;
      if (rank !== undefined) waitedFor[rank] = waitedFor[rank]! - late;
      end -= elapsed;
    }
    this.#hidden = { phases, waitedFor };
    this.#overlapped = 0;
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

  /** Attribute synchronous work to a phase. Nested work interrupts the outer one. */
  measure<T>(phase: Phase, work: () => T): T {
    const leave = this.#enter(phase);
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
  stretch(phase: Phase): Stretch {
    const end = this.#enter(phase);
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
  follow<T>(phase: Phase, work: () => T): T {
    const result = this.measure(phase, work);
    if (!(result instanceof Promise)) return result;
    return result.finally(this.expect(phase)) as T;
  }

  /**
   * Gives idle time from now on to the phase, with precedence over what the transport waits for,
   * until the returned function is called. If several phases are expected, the first one gets it.
   */
  expect(phase: Phase): () => void {
    const entry = { phase };
    this.#settle();
    this.#elsewhere.add(entry);
    return () => {
      this.#settle();
      this.#elsewhere.delete(entry);
    };
  }

  working(kind: 'send' | 'receive'): () => void {
    return this.#enter(kind);
  }

  waiting(state: Waiting): void {
    if (this.#work === undefined) this.#settle();
    this.#waiting = state;
  }

  #enter(phase: Phase): () => void {
    this.#settle();
    const outer = this.#work;
    this.#work = phase;
    return () => {
      this.#settle();
      this.#work = outer;
    };
  }

  /** Give the time since the last change to the phase that was running. */
  #settle(): void {
    const now = this.#now();
    const elapsed = now - this.#since;
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
    if (this.#keepsSpans) this.#spans.push({ phase, rank, elapsed });
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
