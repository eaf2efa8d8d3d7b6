/**
 * The measured time of a collective, as a factor on the prediction of the α–β–γ model.
 * The model covers messages, bytes and reductions, but not additional copies, the cost of
 * steps in JavaScript, or waiting among ranks that share cores. Each collective was timed
 * on a few shapes (`probe/collective-timing.ts`). Among these, a plane over log N and log k is
 * fitted to the logarithms of their times around the requested shape, weighted by a Gaussian
 * of the distance: locally a time is a power of N and of k. Dense times never fall as N grows.
 *
 * Nothing is extrapolated. Beyond the timed shapes the model goes on from their edge: what a larger
 * shape takes longer there is added to the measured time, so that an error of a small
 * shape stays as small. And no prediction beats the wire: the bytes of the busiest rank at the
 * link's own rate.
 *
 * Source: local linear regression (Cleveland and Devlin, 1988); monotone by pooling neighbours
 * (Ayer et al., 1955).
 */
import {
  linkByteSeconds,
  type NetworkCost,
} from '../../shared/cost-model/network-cost.ts';
import type { TimedCollective } from '../../shared/cost-model/timed-collective.ts';
import { sparseBytes } from '../memory/entries.ts';
import type { CollectiveDefinition, ExchangeShape } from './collective.ts';
import { placedSeconds } from './node-links.ts';
import { DEFAULT_SERVERS } from './server-ranks.ts';
import { exp, log } from '../../shared/numbers/portable-math.ts';

/** Standard deviation of the Gaussian, in powers of two. */
const WIDTH = 1.5;
/** Makes a slope 0 if no two shapes determine it. */
const RIDGE = 1e-6;

/** Returns expected seconds divided by the model's, at least the part that the wire takes. */
export function timedFactor(
  collective: CollectiveDefinition,
  shape: ExchangeShape,
  network: NetworkCost,
): number {
  const model = placedSeconds(collective, shape, network);
  if (model === 0) return 1;
  const wire = collective.wireBytes(shape) * linkByteSeconds(network);
  return Math.max(measuredFactor(collective, shape, network), wire / model);
}

/** Seconds that this exchange is expected to take. */
export const expectedSeconds = (
  collective: CollectiveDefinition,
  shape: ExchangeShape,
  network: NetworkCost,
): number =>
  placedSeconds(collective, shape, network) * timedFactor(collective, shape, network);

/**
 * 1 if it was not timed with this number of ranks. Quantised exchanges were never timed,
 * and parameter servers only with the default number.
 */
function measuredFactor(
  collective: CollectiveDefinition,
  shape: ExchangeShape,
  { timed }: NetworkCost,
): number {
  // Only one node was timed.
  if (timed === undefined || shape.quantization !== undefined) return 1;
  if ((shape.servers ?? DEFAULT_SERVERS) !== DEFAULT_SERVERS) return 1;
  if (new Set(shape.places).size > 1) return 1;
  const comparable = timed.collectives.filter(
    (one) =>
      one.collective === collective.id &&
      one.ranks === shape.ranks &&
      (one.nnz === undefined) === (shape.nnz === undefined),
  );
  if (comparable.length === 0) return 1;
  const near = nearest(shape, comparable);
  const measured = shape.nnz === undefined ? risingAt : planeAt;
  const ofNear = measured(near, comparable);
  const modelOfNear = collective.cost(near, timed.network);
  const model = collective.cost(shape, timed.network);
  return model <= modelOfNear
    ? ofNear / modelOfNear
    : (ofNear + model - modelOfNear) / model;
}

/** The shape as it would have been timed: f32, with the nearest N and density. */
function nearest(
  { ranks, length: n, nnz: k }: ExchangeShape,
  timed: readonly TimedCollective[],
): ExchangeShape {
  const length = within(
    n,
    timed.map((one) => one.length),
  );
  if (k === undefined) return { ranks, length, payloadBytes: 4 * length };
  const density = within(
    k / Math.max(1, n),
    timed.map((one) => one.nnz! / one.length),
  );
  const nnz = density * length;
  return { ranks, length, nnz, payloadBytes: sparseBytes(nnz) };
}

const within = (value: number, timed: readonly number[]): number =>
  Math.min(Math.max(...timed), Math.max(Math.min(...timed), value));

/**
 * Seconds of a dense shape among the timed ones: between the planes at the timed lengths,
 * where those that fall are pooled.
 */
function risingAt(
  { length }: ExchangeShape,
  timed: readonly TimedCollective[],
): number {
  const ranks = timed[0]!.ranks;
  const lengths = [...new Set(timed.map((one) => one.length))].sort((a, b) => a - b);
  const times = rising(
    lengths.map((n) => log(planeAt({ ranks, length: n, payloadBytes: 4 * n }, timed))),
  );
  const above = lengths.findIndex((n) => n >= length);
  if (lengths[above] === length) return exp(times[above]!);
  const [low, high] = [lengths[above - 1]!, lengths[above]!];
  const share = log(length / low) / log(high / low);
  return exp(times[above - 1]! + share * (times[above]! - times[above - 1]!));
}

/** The nearest sequence that never falls. */
function rising(values: readonly number[]): readonly number[] {
  const pools: { mean: number; count: number }[] = [];
  for (const value of values) {
    let pool = { mean: value, count: 1 };
    for (let last = pools.at(-1); last && last.mean > pool.mean; last = pools.at(-1)) {
      const count = last.count + pool.count;
      const mean = (last.mean * last.count + pool.mean * pool.count) / count;
      pool = { mean, count };
      pools.pop();
    }
    pools.push(pool);
  }
  return pools.flatMap(({ mean, count }) => new Array<number>(count).fill(mean));
}

/** Seconds, by weighted least squares; the shape is the origin. */
function planeAt(
  { length, nnz = 1 }: ExchangeShape,
  timed: readonly TimedCollective[],
): number {
  const points = timed.map((one) => {
    const n = log(one.length / length) / Math.LN2;
    const k = log((one.nnz ?? 1) / nnz) / Math.LN2;
    return { n, k, time: log(one.seconds), distance: n * n + k * k };
  });
  // Distances count from the nearest shape; far from all of them, every weight would
  // vanish.
  const nearest = Math.min(...points.map(({ distance }) => distance));
  const weights = points.map(({ distance }) =>
    exp((nearest - distance) / (2 * WIDTH * WIDTH)),
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const mean = (of: (point: (typeof points)[number]) => number): number =>
    points.reduce((sum, point, index) => sum + weights[index]! * of(point), 0) / total;
  const n = mean((point) => point.n);
  const k = mean((point) => point.k);
  const time = mean((point) => point.time);
  const nn = RIDGE + mean((point) => (point.n - n) * (point.n - n));
  const kk = RIDGE + mean((point) => (point.k - k) * (point.k - k));
  const nk = mean((point) => (point.n - n) * (point.k - k));
  const nTime = mean((point) => (point.n - n) * (point.time - time));
  const kTime = mean((point) => (point.k - k) * (point.time - time));
  const determinant = nn * kk - nk * nk;
  const slopeN = (kk * nTime - nk * kTime) / determinant;
  const slopeK = (nn * kTime - nk * nTime) / determinant;
  return exp(time - slopeN * n - slopeK * k);
}
