/**
 * A plan's policy for each tensor: its method and parameters, by the first pattern that
 * matches its name; dense if it is small. Pure functions of data that all ranks share.
 */
import { isAutomatic, type ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import type { JsonObject } from '../../shared/checks/json.ts';
import type { CollectiveDefinition } from '../collectives/collective.ts';
import { findCollective } from '../collectives/registry.ts';
import {
  carriageOf,
  type DriftSchedule,
  residualOf,
  type MethodDefinition,
  type Residual,
} from '../methods/method.ts';
import { fitsName } from '../../shared/plan/name-pattern.ts';
import { travelsApart } from '../methods/policy/small-tensors.ts';
import { findMethod, uncompressed } from '../methods/registry.ts';

export interface TensorPolicy {
  readonly method: MethodDefinition;
  readonly parameters: JsonObject;
}

/** Policy of a tensor that travels uncompressed. */
const DENSE: TensorPolicy = { method: uncompressed, parameters: {} };

/** Whether any gradient is sent as anything but its own f32 values. */
export function compresses({
  method,
  layers = [],
  quantizeSums,
}: Pick<ExchangePlan, 'method' | 'layers' | 'quantizeSums'>): boolean {
  const ids = [method, ...layers.map((layer) => layer.method)];
  return (
    quantizeSums !== undefined || ids.some((id) => findMethod(id).uncompressed !== true)
  );
}

export function policyOf(
  plan: ExchangePlan,
  { name, length }: { readonly name: string; readonly length: number },
): TensorPolicy {
  const own = plan.layers?.find(({ match }) => fitsName(match, name)) ?? plan;
  const method = findMethod(own.method);
  if (!travelsApart(method, own.parameters, length)) {
    return { method, parameters: own.parameters };
  }
  return DENSE;
}

/** Equal for policies whose tensors can share a bucket. */
export function policyKey({ method, parameters }: TensorPolicy): string {
  return JSON.stringify([method.id, parameters]);
}

/** The plan of the tensors of one policy, with a collective that can carry them. */
export function planOf(plan: ExchangePlan, policy: TensorPolicy): ExchangePlan {
  const { method, parameters } = policy;
  const named = isAutomatic(plan.collective)
    ? undefined
    : findCollective(plan.collective);
  const { payload } = carriageOf(method, parameters);
  const fits =
    named === undefined ||
    (named.takes.includes(payload) && !loses(residualOf(method, parameters), named));
  return {
    ...plan,
    method: method.id,
    parameters,
    layers: undefined,
    collective: fits ? plan.collective : 'auto',
  };
}

/**
 * Whether entries that a collective leaves out are lost, because the method has no
 * residual.
 */
export function loses(
  residual: Residual,
  { partial }: Pick<CollectiveDefinition, 'partial'>,
): boolean {
  return partial === true && residual === 'none';
}

/** Names of the tensors whose method applies momentum itself. */
export function withMomentumReplaced(
  plan: ExchangePlan,
  tensors: readonly { readonly name: string; readonly length: number }[],
): ReadonlySet<string> {
  const replaced = tensors.filter(
    (tensor) => policyOf(plan, tensor).method.replacesMomentum !== undefined,
  );
  return new Set(replaced.map(({ name }) => name));
}

/**
 * The most by which the expected squared error of what a rank sends, relative to its gradient's squared norm,
 * exceeds 0 by what the methods' papers prove: the largest of all tensors; undefined if one has no such bound, or if
 * none is compressed.
 */
export function errorBoundOf(
  plan: ExchangePlan,
  tensors: readonly { readonly name: string; readonly length: number }[],
): number | undefined {
  // Sums that are quantised on their way have errors of their own.
  if (plan.quantizeSums !== undefined) return undefined;
  let most = 0;
  for (const tensor of tensors) {
    const { method, parameters } = policyOf(plan, tensor);
    if (method.uncompressed) continue;
    const bound = method.errorBound?.(parameters, tensor.length);
    if (bound === undefined) return undefined;
    most = Math.max(most, bound);
  }
  return most === 0 ? undefined : most;
}

/** Requirements of a plan with drifting replicas on the training loop. */
export interface Drift extends DriftSchedule {
  readonly drifts: boolean;
}

/** Replicas stay identical. */
export const STILL: Drift = { drifts: false, measureEvery: 0, resyncEvery: 0 };

/** Schedule of a method that does not mention it. */
const USUAL_SCHEDULE: DriftSchedule = { measureEvery: 50, resyncEvery: 0 };

/** Replicas drift if any tensor's do; the shortest interval counts. */
export function driftOf(
  plan: ExchangePlan,
  tensors: readonly { readonly name: string; readonly length: number }[],
): Drift {
  const drifting = tensors
    .map((tensor) => policyOf(plan, tensor))
    .filter(({ method }) => method.replicas === 'drift');
  const schedules = drifting.map(
    ({ method, parameters }) => method.drift?.(parameters) ?? USUAL_SCHEDULE,
  );
  const least = (every: (schedule: DriftSchedule) => number): number => {
    const asked = schedules.map(every).filter((iterations) => iterations > 0);
    return asked.length === 0 ? 0 : Math.min(...asked);
  };
  return {
    drifts: drifting.length > 0,
    measureEvery: least(({ measureEvery }) => measureEvery),
    resyncEvery: least(({ resyncEvery }) => resyncEvery),
  };
}
