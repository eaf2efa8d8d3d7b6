/**
 * The time that an iteration took beyond those around it: each rank's phases against their medians
 * over iterations that ran the same way. Medians, because a stall among them should not hide another.
 */
import { median } from '../../../shared/numbers/quantile.ts';
import type { IterationRecord } from '../../../shared/records/iteration.ts';
import { PHASES, type Phase } from '../../../shared/records/phases.ts';

/** A difference below this share of the usual time is none. */
const MUCH = 0.2;
/**
 * Robust standard deviations by which the iterations around it scatter: a step within them is not
 * unusual. Of normal noise, one in 700 steps exceeds three.
 */
const DEVIATIONS = 3;
/** The factor from a median absolute deviation to the standard deviation of normal noise. */
const TO_DEVIATION = 1.4826;
/** A phase of a rank carries an excess if it has this share of it. */
const CARRIES = 0.5;
/** Iterations that a median needs. */
const LEAST = 5;

type Measured = Pick<
  IterationRecord,
  'rank' | 'iteration' | 'wall' | 'phases' | 'method' | 'collective'
> &
  Partial<Pick<IterationRecord, 'exchanged' | 'drained'>>;

/** Milliseconds that a phase of a rank took beyond its median. */
export interface PhaseExcess {
  readonly rank: number;
  readonly phase: Phase;
  readonly time: number;
}

export interface IterationExcess {
  /**
   * Whether it was longer or shorter: `usual` is within a fifth; `noise` is more, but the
   * iterations around it differ as much.
   */
  readonly kind: 'longer' | 'noise' | 'shorter' | 'usual';
  /** Milliseconds beyond the median, of the rank with most of them; negative: shorter. */
  readonly time: number;
  /** The median of that rank, and the iterations that it is of. */
  readonly usual: number;
  readonly iterations: number;
  /** Ranks with records, and those that were much longer. */
  readonly ranks: number;
  readonly slow: readonly number[];
  /** Phases that carry it, the largest first; if none does, the largest alone. */
  readonly parts: readonly PhaseExcess[];
  /** Whether a phase of a rank has half of it. */
  readonly isCarried: boolean;
}

/** A rank's records around an iteration, with its own. */
interface RankTimes {
  readonly own: Measured;
  readonly around: readonly Measured[];
  readonly usual: number;
}

/**
 * Compares an iteration with those around it.
 * @param records of the iteration
 * @param around records of iterations before and after it
 * @returns undefined if too few of them ran the same way
 */
export function iterationExcess(
  records: readonly Measured[],
  around: readonly Measured[],
): IterationExcess | undefined {
  const times = records.flatMap((own): readonly RankTimes[] => {
    const alike = around.filter((other) => isAlike(own, other));
    if (alike.length < LEAST) return [];
    return [{ own, around: alike, usual: median(alike.map(({ wall }) => wall))! }];
  });
  const excesses = times.map(({ own, usual }) => own.wall - usual);
  const time = Math.max(...excesses);
  const most = times[excesses.indexOf(time)];
  if (most === undefined) return undefined;
  const isMuch = time > MUCH * most.usual;
  const kind =
    time < -MUCH * most.usual
      ? 'shorter'
      : !isMuch
        ? 'usual'
        : time > noiseOf(times)
          ? 'longer'
          : 'noise';
  const parts = times.flatMap(phaseExcesses).toSorted((a, b) => b.time - a.time);
  const carrying = parts.filter((part) => part.time >= CARRIES * time);
  return {
    kind,
    time,
    usual: most.usual,
    iterations: most.around.length,
    ranks: records.length,
    slow: times
      .filter((_, index) => excesses[index]! >= CARRIES * time)
      .map(({ own }) => own.rank),
    parts: carrying.length > 0 ? carrying : parts.slice(0, 1),
    isCarried: carrying.length > 0,
  };
}

/** Whether another record of the rank is of an iteration that did the same. */
const isAlike = (own: Measured, other: Measured): boolean =>
  other.rank === own.rank &&
  other.iteration !== own.iteration &&
  other.method === own.method &&
  other.collective === own.collective &&
  other.exchanged === own.exchanged &&
  other.drained === own.drained;

const phaseExcesses = ({ around, own }: RankTimes): readonly PhaseExcess[] =>
  PHASES.map((phase) => ({
    rank: own.rank,
    phase,
    time:
      (own.phases[phase] ?? 0) -
      median(around.map(({ phases }) => phases[phase] ?? 0))!,
  }));

/** An excess that the iterations around it may have by chance, in the rank that has most there. */
function noiseOf(times: readonly RankTimes[]): number {
  const most = new Map<number, number>();
  for (const { around, usual } of times) {
    for (const { iteration, wall } of around) {
      most.set(iteration, Math.max(most.get(iteration) ?? -Infinity, wall - usual));
    }
  }
  const middle = median(most.values())!;
  const scatter = median([...most.values()].map((each) => Math.abs(each - middle)))!;
  return middle + DEVIATIONS * TO_DEVIATION * scatter;
}
