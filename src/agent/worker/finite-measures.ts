/**
 * Keeps measured values that are not finite out of records. Training with a loss that is
 * not finite cannot continue and ends. Any other measure that is NaN or infinite is left
 * out of its record, and a notice reports it.
 */
import { failure } from '../../shared/errors/errors.ts';
import type { BucketsRecord } from '../../shared/records/buckets.ts';
import type { Notice } from '../../shared/records/notice.ts';
import type { ThresholdState } from '../methods/method.ts';
import type { BucketSimilarity } from '../exchange/exchange-statistics.ts';
import type { BucketObservation } from '../exchange/bucket-observations.ts';
import type { StepResult } from '../training/trainer.ts';

/**
 * @param title the metric's
 * @throws GradwireError `LOSS_NOT_FINITE`
 */
export function requireFiniteStep(
  { loss, metric }: StepResult,
  { rank, iteration, title }: { rank: number; iteration: number; title: string },
): void {
  const measures = [
    ['loss', loss],
    [title, metric],
  ] as const;
  const wrong = measures.find(
    ([, value]) => value !== undefined && !Number.isFinite(value),
  );
  if (wrong === undefined) return;
  const [what, value] = wrong;
  throw failure(
    'LOSS_NOT_FINITE',
    `the training ${what} is ${value} in iteration ${iteration}`,
    {
      place: `rank ${rank}`,
      rank,
      next: 'Lower the learning rate, or check the data of this rank.',
    },
  );
}

export interface MeasureNotices {
  /** Takes notices about measures of this rank. */
  readonly own: (notice: Notice) => void;
  /** Takes notices about measures of all ranks together, which are reported once. */
  readonly ofAll: (notice: Notice) => void;
}

type Code = 'EVALUATION_NOT_FINITE' | 'MEASURE_NOT_FINITE';
type Measures<K extends string> = Readonly<Partial<Record<K, number | undefined>>>;

export class FiniteMeasures {
  readonly #notices: MeasureNotices;

  constructor(notices: MeasureNotices) {
    this.#notices = notices;
  }

  /** @param of the metric's title, and which model this is, if that is ambiguous */
  evaluation(
    measured: StepResult,
    iteration: number,
    { title, whose }: { readonly title: string; readonly whose: string },
  ): Partial<Record<keyof StepResult, number>> {
    const names = { loss: 'loss', metric: title };
    return finiteOf(measured, 'EVALUATION_NOT_FINITE', this.#notices.ofAll, (key) => {
      return `the ${names[key]}${whose} on the test set after iteration ${iteration}`;
    });
  }

  divergence(value: number, iteration: number): number | undefined {
    return finiteOf({ value }, 'MEASURE_NOT_FINITE', this.#notices.ofAll, () => {
      return `the drift of the replicas after iteration ${iteration}`;
    }).value;
  }

  /** Notices a norm that is not finite, which `iteration-record.ts` leaves out. */
  residualNorm(value: number | undefined, iteration: number): void {
    finiteOf({ value }, 'MEASURE_NOT_FINITE', this.#notices.own, () => {
      return `the norm of the residual in iteration ${iteration}`;
    });
  }

  buckets(
    observed: readonly BucketObservation[],
    iteration: number,
  ): BucketsRecord['buckets'] {
    return observed.map(({ nnzLocal, nnzReduced, thresholds, ...bucket }, index) => {
      const { residualNorm, ...facts } = bucket;
      const finite = finiteOf(
        { residualNorm },
        'MEASURE_NOT_FINITE',
        this.#notices.own,
        () => `the norm of the residual of bucket ${index} in iteration ${iteration}`,
      );
      const fillIn =
        nnzLocal === undefined || nnzReduced === undefined || nnzLocal === 0
          ? undefined
          : nnzReduced / nnzLocal;
      return {
        ...facts,
        ...optional('nnzLocal', nnzLocal),
        ...optional('nnzReduced', nnzReduced),
        ...optional('density', nnzLocal && nnzLocal / bucket.length),
        ...optional('fillIn', fillIn),
        ...finite,
        ...(thresholds === undefined
          ? {}
          : { thresholds: thresholds.filter(isFinite).map(known) }),
      };
    });
  }

  similarities(
    buckets: readonly BucketSimilarity[],
    iteration: number,
  ): readonly BucketSimilarity[] {
    const { ofAll } = this.#notices;
    return buckets.map(({ tensors, ...observed }, index) => {
      const finite = finiteOf(observed, 'MEASURE_NOT_FINITE', ofAll, (key) => {
        return `${key} of bucket ${index} in iteration ${iteration}`;
      });
      return { tensors, ...finite };
    });
  }
}

const optional = <K extends string>(
  key: K,
  value: number | undefined,
): Partial<Record<K, number>> =>
  value === undefined ? {} : ({ [key]: value } as Record<K, number>);

/** The finite measures, and a notice for every other one. */
function finiteOf<K extends string>(
  measures: Measures<K>,
  code: Code,
  notice: (notice: Notice) => void,
  nameOf: (key: K) => string,
): Partial<Record<K, number>> {
  const finite: Partial<Record<K, number>> = {};
  for (const key of Object.keys(measures) as K[]) {
    const value = measures[key];
    if (value === undefined) continue;
    if (Number.isFinite(value)) finite[key] = value;
    else {
      const message = `${nameOf(key)} is ${value}: training diverges; lower the learning rate`;
      notice({ level: 'warning', code, message });
    }
  }
  return finite;
}

const isFinite = ({ change = 0, threshold }: ThresholdState): boolean =>
  Number.isFinite(threshold) && Number.isFinite(change);

const known = ({ age, change, ...state }: ThresholdState): ThresholdState => ({
  ...state,
  ...optional('age', age),
  ...optional('change', change),
});
