/**
 * Decides what happens to the residual and the weights when one plan follows another, by tensor,
 * since a plan may have several methods.
 *
 *   old residual   new residual                    what happens to the old one
 *   none           any                             nothing to do
 *   a sum of X     a sum of X as well              kept
 *   a sum of X     none, or a sum of other terms   flushed (one dense exchange) or dropped
 *
 * where X are gradients or velocities (`Residual`), and the switch says whether to flush or drop.
 *
 * Leaving a method whose replicas drift averages weights and optimiser state over the
 * ranks at the fence, because the next method's replicas must start from equal bits.
 * Upholds invariant I4 (docs/architecture.md).
 */
import type { ExchangePlan, ResidualPolicy } from '../../shared/plan/exchange-plan.ts';
import { residualOf, type MethodDefinition } from '../methods/method.ts';
import type { FlatTensor } from './buckets.ts';
import { policyOf } from './tensor-policy.ts';

export interface Transition {
  /** The outcome for all tensors: flushed or dropped takes precedence over kept. */
  readonly residual: 'none' | 'kept' | 'flushed' | 'dropped';
  readonly resynchronize: boolean;
  /** The parts that are flushed or dropped, if not everything. */
  readonly leaving?: readonly FlatRange[] | undefined;
}

/** Elements of the flat gradient. */
export interface FlatRange {
  readonly start: number;
  readonly length: number;
}

type Side = Pick<MethodDefinition, 'residual' | 'replicas'>;

function sideOf(plan: ExchangePlan, tensor: FlatTensor): Side {
  const { method, parameters } = policyOf(plan, tensor);
  return { residual: residualOf(method, parameters), replicas: method.replicas };
}

/** Decides for tensors with one method before and one after. */
export function planTransition(
  from: Side,
  to: Side,
  policy: ResidualPolicy,
): Transition {
  const resynchronize = from.replicas === 'drift' && to.replicas === 'identical';
  if (from.residual === 'none') return { residual: 'none', resynchronize };
  if (from.residual === to.residual) return { residual: 'kept', resynchronize };
  return { residual: policy === 'flush' ? 'flushed' : 'dropped', resynchronize };
}

/** Decides for all tensors, from one plan to the next. */
export function transitionOf(
  from: ExchangePlan,
  to: ExchangePlan,
  tensors: readonly FlatTensor[],
  policy: ResidualPolicy,
): Transition {
  let residual: Transition['residual'] = 'none';
  let resynchronize = false;
  let stays = false;
  const leaving: FlatRange[] = [];
  for (const tensor of tensors) {
    const own = planTransition(sideOf(from, tensor), sideOf(to, tensor), policy);
    resynchronize ||= own.resynchronize;
    if (own.residual === 'flushed' || own.residual === 'dropped') {
      residual = own.residual;
      leaving.push({ start: tensor.start, length: tensor.length });
    } else if (own.residual === 'kept') {
      stays = true;
      if (residual === 'none') residual = 'kept';
    }
  }
  return {
    residual,
    resynchronize,
    ...(stays && leaving.length > 0 ? { leaving } : {}),
  };
}
