/**
 * What a collective was seen to take, as a factor on what the α–β–γ model says of it. The
 * model knows messages, bytes and reductions; it does not know what a collective copies
 * beside, what its steps cost in JavaScript, and who waits for whom where ranks share
 * cores. Each collective was timed on a few shapes (`probe/collective-timing.ts`); between
 * them the factor is a mean of theirs by distance, in powers of two of N and of k, and
 * beyond them that of the nearest.
 */
import type { NetworkCost } from '../../shared/cost-model/network-cost.ts';
import type { TimedCollective } from '../../shared/cost-model/network-profile.ts';
import type { CollectiveDefinition, ExchangeShape } from './collective.ts';

/** Keeps the weight of a shape that was timed itself finite, in powers of two squared. */
const NEAR = 0.1;

/** 1 where it was not timed with so many ranks. Quantised exchanges were not. */
export function timedFactor(
  { id }: Pick<CollectiveDefinition, 'id'>,
  shape: ExchangeShape,
  { timed = [] }: NetworkCost,
): number {
  if (shape.quantization !== undefined) return 1;
  let weights = 0;
  let sum = 0;
  for (const one of timed) {
    if (one.collective !== id || one.ranks !== shape.ranks) continue;
    if ((one.nnz === undefined) !== (shape.nnz === undefined)) continue;
    const weight = 1 / (squaredDistance(one, shape) + NEAR) ** 2;
    weights += weight;
    sum += weight * Math.log(one.seconds / one.predicted);
  }
  return weights === 0 ? 1 : Math.exp(sum / weights);
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
