/**
 * Windows: places in the arena for one bucket each, where a gradient and its residual lie outside of
 * it because they do not fit. A bucket has its window from its beginning until its exchange has
 * ended; then it goes to the next bucket of that window. Which bucket has which window follows from
 * the plan alone, so all ranks grant them in the same order, and no two ranks wait for each other.
 */
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import { planBuckets, type Bucket, type FlatTensor } from './buckets.ts';
import {
  halfBytes,
  hasResidual,
  keptLength,
  payloadBytes,
  residualLength,
} from './exchange-bytes.ts';

const F32 = 4;

/** Part of an arena that may be planned: what collectives need meanwhile is estimated. */
const PLANNED = 0.9;
/** Part of an arena that gradient, residual and payloads may fill before there are windows. */
const WITHOUT_WINDOWS = 0.8;
/** Bytes of windows that let enough buckets travel at once; more would only cost memory. */
const ENOUGH_BYTES = 2 ** 29;
const MOST_WINDOWS = 64;
/** Elements that are worked on at once between exchanges. */
export const DESK_LENGTH = 2 ** 20;

interface Window {
  /** Elements of its longest bucket. */
  readonly length: number;
  /** Whether any of its buckets has a residual. */
  readonly hasResidual: boolean;
  /** Bytes that collectives may need for its longest bucket: only while that is exchanged. */
  readonly scratchBytes: number;
}

/** The windows of a plan: bucket i has window i mod their number. */
export type WindowLayout = readonly Window[];

const bytesOf = (layout: WindowLayout): number =>
  layout.reduce(
    (sum, window) => sum + F32 * window.length * (window.hasResidual ? 2 : 1),
    0,
  );

/** Bytes in the arena of windows, and of what is beside them for the work between exchanges. */
export const windowBytes = (layout: WindowLayout): number =>
  bytesOf(layout) + 2 * F32 * DESK_LENGTH;

/** The layout of this number of windows. */
const layoutOf = (buckets: readonly Bucket[], count: number): WindowLayout =>
  Array.from({ length: count }, (_, window) => {
    const own = buckets.filter(({ index }) => index % count === window);
    return {
      length: own.reduce((most, { length }) => Math.max(most, length), 0),
      hasResidual: own.some(hasResidual),
      scratchBytes: Math.max(...own.map((bucket) => scratchBytes(bucket))),
    };
  });

/**
 * Bytes that a collective may need for a bucket: for sparse sums a gathered vector, and one more once
 * they fill in; for dense ones the parts of others.
 */
const scratchBytes = ({ length, policy }: Bucket): number =>
  F32 * length * (policy.method.payload === 'dense' ? 1 : 2);

/** Bytes in an arena of windows and of the work of collectives on their buckets. */
const workBytes = (layout: WindowLayout): number =>
  layout.reduce((sum, window) => sum + window.scratchBytes, bytesOf(layout));

/**
 * Lays out as many windows as help, of those that fit; undefined if not even one fits.
 * @param arenaBytes that an arena has
 * @param ranks that exchange
 */
export function windowsOf(
  buckets: readonly Bucket[],
  { arenaBytes, ranks }: ArenaSetting,
): WindowLayout | undefined {
  const beside =
    F32 * (keptLength(buckets) + 2 * DESK_LENGTH) +
    kernelBytes(buckets) +
    payloadBytes(buckets, ranks) +
    halfBytes(buckets);
  const room = PLANNED * arenaBytes - beside;
  let count = Math.min(MOST_WINDOWS, buckets.length);
  for (; count > 2; count--) {
    const layout = layoutOf(buckets, count);
    if (bytesOf(layout) <= ENOUGH_BYTES && workBytes(layout) <= room) return layout;
  }
  for (; count > 0; count--) {
    const layout = layoutOf(buckets, count);
    if (workBytes(layout) <= room) return layout;
  }
  return undefined;
}

export interface ArenaSetting {
  readonly arenaBytes: number;
  readonly ranks: number;
}

/**
 * The windows of each plan, if there have to be some: gradient, residual and payloads of any of
 * them would fill the arena. Undefined if they fit, or if some plan has a bucket too large for windows.
 */
export function neededWindows(
  tensors: readonly FlatTensor[],
  plans: readonly ExchangePlan[],
  setting: ArenaSetting,
): readonly WindowLayout[] | undefined {
  const all = plans.map((plan) => planBuckets(tensors, plan));
  if (all.every((buckets) => fitsWhole(buckets, setting))) return undefined;
  const layouts = all.flatMap((buckets) => {
    const layout = windowsOf(buckets, setting);
    return layout === undefined ? [] : [layout];
  });
  return layouts.length < all.length ? undefined : layouts;
}

/** Whether these buckets fit an arena with all that they need, so that none needs a window. */
export const fitsWhole = (
  buckets: readonly Bucket[],
  { arenaBytes, ranks }: ArenaSetting,
): boolean => wholeBytes(buckets, ranks) <= WITHOUT_WINDOWS * arenaBytes;

/** Bytes of gradient and residual. */
export const vectorBytes = (buckets: readonly Bucket[]): number =>
  F32 *
  (buckets.reduce((sum, { length }) => sum + length, 0) + residualLength(buckets));

/** Bytes that the kernels keep for selections: as many as the longest selected bucket has. */
const kernelBytes = (buckets: readonly Bucket[]): number =>
  F32 *
  buckets.reduce(
    (most, { length, policy }) =>
      policy.method.payload === 'sparse' ? Math.max(most, length) : most,
    0,
  );

/** Bytes in an arena without windows, where each bucket keeps the memory of its collective. */
const wholeBytes = (buckets: readonly Bucket[], ranks: number): number =>
  vectorBytes(buckets) +
  buckets.reduce(
    (sum, { length, policy }) =>
      sum + (policy.method.payload === 'sparse' && ranks > 1 ? F32 * length : 0),
    kernelBytes(buckets),
  ) +
  F32 * keptLength(buckets) +
  payloadBytes(buckets, ranks) +
  halfBytes(buckets);
