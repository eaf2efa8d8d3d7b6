/**
 * Watches a guarded switch: compares medians of the iterations after its fence with those before
 * it, as the ranks here report them, and asks for the way back once a limit is exceeded. It ends
 * after `REACH` iterations, with the next switch, or with the way back.
 */
import { median } from '../../../shared/numbers/quantile.ts';
import type { NamedPlan, PlanSwitch } from '../../../shared/plan/exchange-plan.ts';
import {
  GUARDED,
  type GuardedMeasure,
  type SwitchGuard,
} from '../../../shared/plan/switch-guard.ts';
import type { IterationRecord } from '../../../shared/records/iteration.ts';
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import {
  formatDuration,
  formatFactor,
  formatQuantity,
} from '../../../shared/words/units.ts';

/** Iterations on each side. */
const REACH = 50;
/** Iterations after the fence before it is judged, and between judgements. */
const LEAST = 10;
/** Losses that are missing, by how many there were before, until they count as not finite. */
const LEAST_MISSING = 5;

const MEASURES = Object.keys(GUARDED) as readonly GuardedMeasure[];

/** The way back to the plan before a switch, and why. */
export interface WayBack {
  readonly to: NamedPlan;
  readonly why: string;
}

interface Observed {
  readonly iteration: number;
  readonly value: number;
}

/** Not every iteration observes every measure: the residual is measured in every tenth. */
type Values = Record<GuardedMeasure, Observed[]>;

interface Watched {
  readonly from: NamedPlan;
  readonly fence: number;
  readonly guard: SwitchGuard;
  readonly before: Values;
  readonly after: Values;
  newest: number;
}

export class GuardWatch {
  /** Records per iteration: the ranks here. */
  readonly #ranks: number;
  readonly #every: number;
  readonly #guards = new Map<number, SwitchGuard>();
  /** Iterations under the current plan, and those before it. */
  #recent: IterationRecord[] = [];
  #earlier: readonly IterationRecord[] = [];
  /** The first iteration that counts for the current plan. */
  #from = 0;
  #last: { readonly fence: number; readonly from: NamedPlan } | undefined;
  #watched: Watched | undefined;

  /**
   * @param ranks number of ranks whose records are seen
   * @param every iterations from one exchange to the next
   */
  constructor(ranks: number, every: number) {
    this.#ranks = ranks;
    this.#every = every;
  }

  /** A switch was planned. */
  planned({ epoch, guard }: PlanSwitch): void {
    if (guard !== undefined) this.#guards.set(epoch, guard);
  }

  /** Sees a record in the order of the journal. */
  saw(record: RunRecord): WayBack | undefined {
    if (record.type === 'switch') {
      const guard = this.#guards.get(record.epoch);
      const { fence } = record;
      // Of two switches at one fence the plan between them has never run.
      const from = this.#last?.fence === fence ? this.#last.from : record.from;
      this.#last = { fence, from };
      const before = this.#before();
      this.#earlier = before;
      this.#recent = [];
      // The exchange at the fence pays for the change.
      this.#from = fence + this.#every;
      this.#watched =
        guard === undefined
          ? undefined
          : {
              from,
              fence,
              guard,
              before: valuesOf(before),
              after: valuesOf([]),
              newest: fence,
            };
      return undefined;
    }
    if (record.type !== 'iteration' || record.iteration < this.#from) return undefined;
    this.#recent.push(record);
    const most = REACH * this.#ranks;
    if (this.#recent.length >= 2 * most) this.#recent = this.#recent.slice(-most);
    const watched = this.#watched;
    if (watched === undefined) return undefined;
    add(watched.after, record);
    if (record.iteration <= watched.newest) return undefined;
    watched.newest = record.iteration;
    return this.#judge(watched);
  }

  /** The iterations to compare with: under the current plan, if there are enough of them. */
  #before(): readonly IterationRecord[] {
    const isEnough = this.#recent.length >= LEAST * this.#ranks;
    const all = isEnough ? this.#recent : [...this.#earlier, ...this.#recent];
    return all.slice(-REACH * this.#ranks);
  }

  #judge(watched: Watched): WayBack | undefined {
    const { after, before, fence, from, guard, newest } = watched;
    const done = newest - fence - this.#every + 1;
    if (done < LEAST || done % LEAST !== 0) return undefined;
    if (guard.loss !== undefined && isLossGone(watched)) {
      this.#watched = undefined;
      return { to: from, why: NO_LOSS };
    }
    for (const measure of MEASURES) {
      const limit = guard[measure];
      if (limit === undefined) continue;
      const now = this.#centre(
        after[measure].filter(({ iteration }) => iteration > newest - LEAST),
      );
      const then = this.#centre(
        measure === 'residual' && (this.#centre(before.residual) ?? 0) === 0
          ? after.residual.filter(({ iteration }) => iteration < this.#from + LEAST)
          : before[measure],
      );
      if (now === undefined || then === undefined || !isOver(now, then, limit))
        continue;
      this.#watched = undefined;
      return { to: from, why: reason(measure, now, then, limit) };
    }
    if (done >= REACH) this.#watched = undefined;
    return undefined;
  }

  /** The median; with local steps the mean, since most iterations have no exchange. */
  #centre(observed: readonly Observed[]): number | undefined {
    const values = observed.map(({ value }) => value);
    if (this.#every === 1 || values.length === 0) return median(values);
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  }
}

/**
 * A program's training goes on with a loss that is not finite, and its record has none. One
 * iteration without is no fault: a scaler of gradients skips such steps.
 */
function isLossGone({ after, before, newest }: Watched): boolean {
  const since = after.loss.at(-1)?.iteration ?? -1;
  const without = after.step.filter(({ iteration }) => iteration > since);
  const first = without[0]?.iteration ?? newest;
  const share = before.loss.length / before.step.length;
  return newest - first + 1 >= LEAST && without.length * share >= LEAST_MISSING;
}

const NO_LOSS =
  'no iteration has a finite loss any more, where those before the switch have one';

/** Whether a value exceeds a multiple of another one; that of a loss below 0 is less far below. */
const isOver = (now: number, then: number, limit: number): boolean =>
  now > then + (limit - 1) * Math.abs(then);

function valuesOf(records: readonly IterationRecord[]): Values {
  const values: Values = { step: [], loss: [], residual: [] };
  for (const record of records) add(values, record);
  return values;
}

function add(
  values: Values,
  { iteration, loss, residualNorm, wall }: IterationRecord,
): void {
  values.step.push({ iteration, value: wall });
  if (loss !== undefined) values.loss.push({ iteration, value: loss });
  if (residualNorm !== undefined)
    values.residual.push({ iteration, value: residualNorm });
}

/** `step 12.1 ms, 1.41× the 8.58 ms before, over the limit of 1.20×` */
function reason(
  measure: GuardedMeasure,
  now: number,
  then: number,
  limit: number,
): string {
  const text = measure === 'step' ? formatDuration : formatQuantity;
  const than = then > 0 ? `${formatFactor(now / then)} the` : 'from';
  return (
    `${GUARDED[measure]} ${text(now)}, ${than} ${text(then)} before, ` +
    `over the limit of ${formatFactor(limit)}`
  );
}
