/**
 * What a collective was seen to take, as a factor on what the α–β–γ model says of it. The
 * model knows messages, bytes and reductions; it does not know what a collective copies
 * beside, what its steps cost in JavaScript, and who waits for whom where ranks share
 * cores. Each collective was timed on a few shapes (`probe/collective-timing.ts`). The
 * factor changes slowly with the shape, and every time has its noise, the more the more
 * ranks share a core: so it is a mean of the factors around, weighed by a Gaussian of their
 * distance in powers of two of N and of k; beyond all shapes that of the nearest.
 */
import type { NetworkCost } from '../../shared/cost-model/network-cost.ts';
import type { TimedCollective } from '../../shared/cost-model/network-profile.ts';
import type { CollectiveDefinition, ExchangeShape } from './collective.ts';

/** Standard deviation of the Gaussian, in powers of two. */
const WIDTH = 3;

/** 1 where it was not timed with so many ranks. Quantised exchanges were not. */
export function timedFactor(
  { id }: Pick<CollectiveDefinition, 'id'>,
  shape: ExchangeShape,
  { timed = [] }: NetworkCost,
): number {
  if (shape.quantization !== undefined) return 1;
  const comparable = timed
    .filter(
      (one) =>
        one.collective === id &&
        one.ranks === shape.ranks &&
        (one.nnz === undefined) === (shape.nnz === undefined),
    )
    .map((one) => ({
      factor: Math.log(one.seconds / one.predicted),
      distance: squaredDistance(one, shape),
    }));
  if (comparable.length === 0) return 1;
  const nearest = Math.min(...comparable.map(({ distance }) => distance));
  let weights = 0;
  let sum = 0;
  for (const { factor, distance } of comparable) {
    // From the nearest on: far from all of them no weight would be left.
    const weight = Math.exp((nearest - distance) / (2 * WIDTH ** 2));
    weights += weight;
    sum += weight * factor;
  }
  return Math.exp(sum / weights);
}

/** Seconds that this exchange is expected to take. */
export const expectedSeconds = (
  collective: CollectiveDefinition,
  shape: ExchangeShape,
  network: NetworkCost,
): number => collective.cost(shape, network) * timedFactor(collective, shape, network);

function squaredDistance(one: TimedCollective, { length, nnz }: ExchangeShape): number {
  const byLength = octaves(one.length, length);
  const byEntries = octaves(one.nnz ?? 1, nnz ?? 1);
  return byLength ** 2 + byEntries ** 2;
}

/** An empty vector is as good as one of one element. */
const octaves = (a: number, b: number): number =>
  Math.log2(Math.max(1, a) / Math.max(1, b));
