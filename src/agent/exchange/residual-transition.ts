/**
 * What becomes of the residual and of the weights when one method follows another.
 *
 *   old residual   new method keeps one   residual
 *   none           any                    nothing to do
 *   some           in the same units      kept
 *   some           no, or other units     flushed (one dense exchange) or dropped
 *
 * Leaving a method whose replicas drift averages weights and optimiser state over the
 * ranks at the fence, for the next method's replicas must start from equal bits.
 */
import type { ResidualPolicy } from '../../shared/exchange-plan.ts';
import type { MethodDefinition } from '../compression/method.ts';

export interface Transition {
  readonly residual: 'none' | 'kept' | 'flushed' | 'dropped';
  readonly resynchronize: boolean;
}

type Side = Pick<MethodDefinition, 'residual' | 'replicas'>;

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
