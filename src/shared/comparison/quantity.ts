/**
 * The quantities by which runs are compared: of the test set, as evaluations observed it, or of
 * the training batches, as the mean of a bin. A target of one is reached at the first point that
 * is at least as good.
 */
import { capitalized } from '../words/capitalized.ts';
import { formatMetric, type MetricKind } from '../records/metric.ts';
import { formatQuantity } from '../words/units.ts';
import type { ComparedRun } from './compared-run.ts';

export const QUANTITY_IDS = [
  'metric',
  'loss',
  'training-loss',
  'training-metric',
] as const;
export type QuantityId = (typeof QUANTITY_IDS)[number];

export interface Quantity {
  readonly id: QuantityId;
  /** `accuracy`, `loss`, `training loss` */
  readonly title: string;
  readonly better: 'higher' | 'lower';
  readonly format: MetricKind['format'];
}

/** A value after some iterations. */
export interface QuantityPoint {
  readonly iterations: number;
  readonly value: number;
}

/** Whether all runs have the same metric. */
export const sharesMetric = (
  runs: readonly Pick<ComparedRun, 'metricKind'>[],
): boolean => new Set(runs.map(({ metricKind }) => metricKind.id)).size <= 1;

function quantityOf(id: QuantityId, kind: MetricKind): Quantity {
  const ofTraining = id.startsWith('training-') ? 'training ' : '';
  return id.endsWith('metric')
    ? { id, title: ofTraining + kind.title, better: kind.better, format: kind.format }
    : { id, title: `${ofTraining}loss`, better: 'lower', format: 'number' };
}

/** A run's points of a quantity, by iterations. What was not observed has none. */
export function pointsOf(
  { curve, observations }: Pick<ComparedRun, 'curve' | 'observations'>,
  id: QuantityId,
): readonly QuantityPoint[] {
  if (id === 'metric' || id === 'loss') {
    return observations.flatMap(({ iterations, [id]: value }) =>
      value === undefined ? [] : [{ iterations, value }],
    );
  }
  const column = id === 'training-loss' ? curve.loss : curve.metric;
  return curve.ends.flatMap((iterations, bin) => {
    const value = column[bin];
    return value === null || value === undefined ? [] : [{ iterations, value }];
  });
}

/** The quantities that some run has; first those that all have, in the order of the ids. */
export function quantitiesOf(runs: readonly ComparedRun[]): readonly Quantity[] {
  const kind = runs[0]?.metricKind;
  if (kind === undefined) return [];
  const having = QUANTITY_IDS.filter(
    (id) => sharesMetric(runs) || !id.endsWith('metric'),
  ).map((id) => ({
    id,
    runs: runs.filter((run) => pointsOf(run, id).length > 0).length,
  }));
  const [all, some] = [
    having.filter((one) => one.runs === runs.length),
    having.filter((one) => one.runs > 0 && one.runs < runs.length),
  ];
  return [...all, ...some].map(({ id }) => quantityOf(id, kind));
}

export const isAsGood = (
  { better }: Pick<Quantity, 'better'>,
  value: number,
  as: number,
): boolean => (better === 'higher' ? value >= as : value <= as);

/** The best value; undefined where there is none. */
export const bestOf = (
  quantity: Pick<Quantity, 'better'>,
  points: readonly QuantityPoint[],
): number | undefined =>
  points.reduce<number | undefined>(
    (best, { value }) =>
      best === undefined || isAsGood(quantity, value, best) ? value : best,
    undefined,
  );

export const formatValue = (
  { format, id }: Pick<Quantity, 'format' | 'id'>,
  value: number | undefined,
): string =>
  id.endsWith('metric') ? formatMetric(value, { format }) : formatQuantity(value);

/** The title at the beginning of a sentence or a table. */
export const headingOf = ({ id, title }: Pick<Quantity, 'id' | 'title'>): string =>
  id.startsWith('training-')
    ? capitalized(title)
    : `${capitalized(title)} on the test set`;
