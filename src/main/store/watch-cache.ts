/**
 * Watches of runs as this process left them, so that a batch of records need not read their state
 * from text again. A watch is taken out for a batch and comes back with the text that was written:
 * one whose transaction failed, or that another process has gone on with, does not fit the
 * stored text, and a new one is read from that.
 */
import { RunWatch, type RuleChoices } from '../../shared/alerts/run-watch.ts';

interface Kept {
  readonly watch: RunWatch;
  readonly state: string;
  readonly choices: string;
}

/** Runs whose watches are kept at most. */
const MOST_KEPT = 64;

export class WatchCache {
  readonly #kept = new Map<number, Kept>();

  /** @param state the stored text; undefined: the run has none yet */
  take(run: number, state: string | undefined, choices: RuleChoices): RunWatch {
    const kept = this.#kept.get(run);
    this.#kept.delete(run);
    return kept?.state === state && kept?.choices === textOf(choices)
      ? kept.watch
      : new RunWatch(state, choices);
  }

  keep(run: number, watch: RunWatch, state: string, choices: RuleChoices): void {
    this.#kept.delete(run);
    this.#kept.set(run, { watch, state, choices: textOf(choices) });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(oldest!);
  }
}

const textOf = (choices: RuleChoices): string => JSON.stringify([...choices]);
