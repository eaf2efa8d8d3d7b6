/** δ of a plan whose streams may turn dense. */
import { inputError } from '../../shared/errors/errors.ts';
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import { assertStreams } from '../collectives/registry.ts';
import { carriageOf } from '../methods/method.ts';
import { findMethod } from '../methods/registry.ts';

/**
 * The plan with its δ, where any of its payloads is summed as sparse streams. If none is
 * requested, the previous plan's is kept; `null` resets it to the default.
 * @throws GradwireError `DELTA_MISFIT`
 */
export function withDelta(
  { delta: asked, ...plan }: ExchangePlan,
  change: Readonly<Record<string, unknown>>,
  base: ExchangePlan | undefined,
): ExchangePlan {
  const kept = change.delta === null ? undefined : base?.delta;
  const delta = asked ?? kept;
  if (delta === undefined) return plan;
  if (sendsStreams(plan)) return { ...plan, delta };
  // The app's panel repeats current values, which is not a choice.
  if (asked === undefined || asked === base?.delta) return plan;
  assertStreams(plan.collective, asked);
  throw inputError(
    'DELTA_MISFIT',
    `delta: ${asked}, but no payload of ${plan.method} is a sparse stream to be summed`,
    { next: 'Remove delta, or use a method with a sparse payload, such as topk.' },
  );
}

/**
 * Whether any tensor's payload is summed as a stream. A collective that takes no streams
 * carries only the tensors whose payload it takes.
 */
function sendsStreams({ method, parameters, layers = [] }: ExchangePlan): boolean {
  return [{ method, parameters }, ...layers].some((policy) => {
    const carriage = carriageOf(findMethod(policy.method), policy.parameters);
    return carriage.reducible && carriage.payload === 'sparse';
  });
}
