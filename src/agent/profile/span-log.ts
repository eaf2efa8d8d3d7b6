/**
 * Spans and messages of an engine while its run is traced. The phase clock writes it; without
 * one the clock keeps sums only. Times are ms on the engine thread's clock.
 */
import type { Phase } from '../../shared/records/phases.ts';

/** Stands for "no stream" and "no rank". */
export const NONE = -1;

export interface LoggedSpan {
  readonly phase: Phase;
  readonly stream: number;
  /** The awaited rank. */
  readonly peer: number;
  readonly start: number;
  readonly end: number;
  /** Whether it ran while the trainer computed, so that it is in no phase. */
  readonly hidden: boolean;
}

export interface LoggedMessage {
  readonly received: boolean;
  readonly peer: number;
  readonly stream: number;
  /** The number of its exchange on the stream. */
  readonly sequence: number;
  readonly bytes: number;
  readonly at: number;
}

export interface LoggedSpans {
  readonly spans: readonly LoggedSpan[];
  readonly messages: readonly LoggedMessage[];
  /** Spans and messages that were beyond the most. */
  readonly dropped: number;
}

export class SpanLog {
  readonly #most: number;
  #spans: LoggedSpan[] = [];
  #messages: LoggedMessage[] = [];
  #dropped = 0;
  /** The first span of the current exchange. */
  #first = 0;

  /** @param most spans, and messages, until they are taken */
  constructor(most: number) {
    this.#most = most;
  }

  /** An exchange begins. */
  begin(): void {
    this.#first = this.#spans.length;
  }

  /** Adds a span; one that continues the last one prolongs it. */
  span(phase: Phase, stream: number, peer: number, start: number, end: number): void {
    if (end <= start || phase === 'other') return;
    const last = this.#spans.at(-1);
    const continues =
      this.#spans.length > this.#first &&
      last?.end === start &&
      last.phase === phase &&
      last.stream === stream &&
      last.peer === peer;
    if (continues) this.#spans[this.#spans.length - 1] = { ...last, end };
    else if (this.#spans.length === this.#most) this.#dropped++;
    else this.#spans.push({ phase, stream, peer, start, end, hidden: false });
  }

  message(message: LoggedMessage): void {
    if (this.#messages.length === this.#most) this.#dropped++;
    else this.#messages.push(message);
  }

  /** The current exchange was hidden until this moment. */
  hideUntil(moment: number): void {
    const spans = this.#spans.splice(this.#first);
    for (const span of spans) {
      if (span.end <= moment) this.#spans.push({ ...span, hidden: true });
      else if (span.start >= moment) this.#spans.push(span);
      else {
        this.#spans.push({ ...span, end: moment, hidden: true });
        this.#spans.push({ ...span, start: moment });
      }
    }
  }

  /** Takes what was logged since the last time. */
  take(): LoggedSpans {
    const taken = {
      spans: this.#spans,
      messages: this.#messages,
      dropped: this.#dropped,
    };
    this.#spans = [];
    this.#messages = [];
    this.#dropped = 0;
    this.#first = 0;
    return taken;
  }
}
