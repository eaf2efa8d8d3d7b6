/**
 * The measured time of a collective, as a factor on the prediction of the α–β–γ model.
 * The model covers messages, bytes and reductions, but not additional copies, the cost of
 * steps in JavaScript, or waiting among ranks that share cores. Each collective was timed
 * on a few shapes (`probe/collective-timing.ts`). Around the requested shape, a plane
 * over log N and log k is fitted to the logarithms of these times, weighted by a Gaussian
 * of the distance: locally a time is a power of N and of k. Beyond the timed shapes the
 * model extrapolates from their edge.
 *
 * Source: local linear regression (Cleveland and Devlin, 1988).
 */
import type { NetworkCost } from '../../shared/cost-model/network-cost.ts';
import type { TimedCollective } from '../../shared/cost-model/timed-collective.ts';
import { sparseBytes } from '../memory/entries.ts';
import type { CollectiveDefinition, ExchangeShape } from './collective.ts';
import { placedSeconds } from './node-links.ts';
import { DEFAULT_SERVERS } from './server-ranks.ts';
import { exp, log } from '../../shared/portable-math.ts';

/** Standard deviation of the Gaussian, in powers of two. */
const WIDTH = 1.5;
/** How far beyond the timed shapes the plane is trusted, as a factor. */
const REACH = 4;
/** Makes a slope 0 if no two shapes determine it. */
const RIDGE = 1e-6;

/**
 * 1 if it was not timed with this number of ranks. Quantised exchanges were never timed,
 * and parameter servers only with the default number.
 */
export function timedFactor(
  collective: Pick<CollectiveDefinition, 'id' | 'cost'>,
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
  const near = withinReach(shape, comparable);
  return planeAt(near, comparable) / collective.cost(near, timed.network);
}

/** Seconds that this exchange is expected to take. */
export const expectedSeconds = (
  collective: CollectiveDefinition,
  shape: ExchangeShape,
  network: NetworkCost,
): number =>
  placedSeconds(collective, shape, network) * timedFactor(collective, shape, network);

/** The shape as it would have been timed: f32, with the nearest N and density. */
function withinReach(
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
  Math.min(REACH * Math.max(...timed), Math.max(Math.min(...timed) / REACH, value));

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
