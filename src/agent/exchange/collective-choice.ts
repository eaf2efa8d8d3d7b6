/**
 * Which collective carries a bucket: the one that the plan names, or by its cost the
 * cheapest. All ranks must choose the same, so the choice goes by what the plan says and
 * never by what one rank has.
 */
import type { ExchangePlan } from '../../shared/exchange-plan.ts';
import type { CollectiveDefinition } from '../collectives/collective.ts';
import { chooseCollective, findCollective } from '../collectives/registry.ts';
import type { Carriage, Payload } from '../compression/method.ts';
import type { Bucket } from './buckets.ts';

/** Undefined where the payloads are gathered and no collective sums them. */
export function collectiveOfBucket(
  plan: ExchangePlan,
  { payload, reducible }: Carriage,
  bucket: Bucket,
  ranks: number,
): CollectiveDefinition | undefined {
  if (!reducible) return undefined;
  if (plan.collective !== 'auto') return findCollective(plan.collective);
  const { ratio } = plan.parameters;
  const nnz =
    payload === 'sparse' && typeof ratio === 'number'
      ? Math.ceil(ratio * bucket.length)
      : undefined;
  return chooseCollective(payload, {
    ranks,
    length: bucket.length,
    payloadBytes:
      payload === 'scalars' ? 8 : nnz === undefined ? 4 * bucket.length : 8 * nnz,
    nnz,
  });
}

/**
 * The bucket's collective, or the cheapest for a payload that it cannot take: the dense
 * part of a method that mostly sends something else.
 */
export function carrierOf(
  payload: Payload,
  collective: CollectiveDefinition | undefined,
  ranks: number,
): CollectiveDefinition {
  const { kind, length, data } = payload;
  if (collective?.takes.includes(kind) === true) return collective;
  return chooseCollective(kind, { ranks, length, payloadBytes: data.bytes });
}
