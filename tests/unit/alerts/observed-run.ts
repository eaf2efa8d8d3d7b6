/** A run as alert rules see it, for tests that need no run. */
import { RunWatch, type RuleChoices } from '../../../src/shared/alerts/run-watch.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { iterationRecord } from '../main/sample-records.ts';

/** Interval of iterations, ms. */
const EACH_MS = 100;

export class ObservedRun {
  /** Alerts so far, as `rule phase`, or with the rank `rule phase 3`. */
  readonly told: string[] = [];
  readonly messages: string[] = [];
  now = 1_000_000;
  #state: string | undefined;
  readonly #choices: RuleChoices | undefined;

  constructor(choices?: RuleChoices) {
    this.#choices = choices;
  }

  /** Each thing is seen by a watch of its own, as if by another process. */
  #observe(seen: Parameters<RunWatch['observe']>[0]): void {
    const watch = new RunWatch(this.#state, this.#choices);
    for (const { alert } of watch.observe(seen)) {
      const rank = alert.rank === undefined ? '' : ` ${alert.rank}`;
      this.told.push(`${alert.rule} ${alert.phase}${rank}`);
      this.messages.push(alert.message);
    }
    this.#state = watch.state;
  }

  record(record: RunRecord): void {
    this.#observe({ kind: 'record', record, now: this.now });
  }

  look(freeBytes?: number): void {
    this.#observe({ kind: 'moment', now: this.now, freeBytes });
  }

  /** Iterations of these ranks, by default quiet ones. */
  iterations(
    from: number,
    to: number,
    of: (iteration: number, rank: number) => Partial<IterationRecord>,
    ranks: readonly number[] = [0, 1],
  ): void {
    for (let iteration = from; iteration < to; iteration++) {
      this.now += EACH_MS;
      for (const rank of ranks) {
        const { phases } = iterationRecord(iteration, rank);
        this.record({
          ...iterationRecord(iteration, rank),
          phases: { ...phases, compute: 3, wait: 0.5, other: 0 },
          loss: 1,
          ...of(iteration, rank),
        });
      }
    }
  }
}
