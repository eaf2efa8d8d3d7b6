/** Parameters of a plan's method, and of its layers' methods, as the user wrote them. */
import { inputError } from '../../shared/errors/errors.ts';
import type {
  ExchangePlan,
  ExchangeSpec,
  LayerPlan,
} from '../../shared/plan/exchange-plan.ts';
import type { JsonObject } from '../../shared/checks/json.ts';
import { refuseIdle } from '../methods/idle-parameters.ts';
import { labelOf, type MethodDefinition } from '../methods/method.ts';
import { withChanges } from '../methods/nested-parameters.ts';
import { inIterations } from '../methods/policy/passes.ts';
import { withoutFences, withStarts } from '../methods/policy/starts.ts';
import { findMethod, validateParameters } from '../methods/registry.ts';
import { requireTensor } from './layer-names.ts';
import { placed } from './placed-errors.ts';
import type { PlanSetting } from './plan-setting.ts';

/**
 * A method's parameters.
 * @param base those that continue unless given
 * @param old those in force until now, whose schedules go on
 * @throws GradwireError `METHOD_PARAMETER_…`, `METHOD_OPTIMIZER_MISFIT`
 */
export function resolveParameters(
  method: MethodDefinition,
  base: JsonObject | undefined,
  old: JsonObject | undefined,
  given: Readonly<Record<string, unknown>>,
  { epoch, iterationsPerPass, momentum, ownMomentum, weightDecay = 0 }: PlanSetting,
): JsonObject {
  if (method.movesPart === true && weightDecay > 0) {
    throw inputError(
      'METHOD_OPTIMIZER_MISFIT',
      `${method.id} moves a few weights in each step, but a weight decay of ${weightDecay} moves ` +
        'all of them: the penalty would be larger than weightDecay says',
      {
        place: 'exchange.method',
        next: 'Set optimizer.weightDecay to 0. Your own model can include the penalty in its objective.',
      },
    );
  }
  if (method.replacesMomentum !== undefined && ownMomentum !== undefined) {
    throw inputError(
      'METHOD_OPTIMIZER_MISFIT',
      `${method.id} already contains momentum, and ${ownMomentum.name} keeps its own`,
      {
        place: 'exchange.method',
        next: ownMomentum.next,
      },
    );
  }
  const { replacesMomentum, schedules = [] } = method;
  const written = withChanges(withoutFences(base ?? {}), given);
  const valid = validateParameters(method, written);
  refuseIdle(method, valid, new Set(Object.keys(given)), base);
  const own = replacesMomentum !== undefined && momentum !== undefined;
  const resolved = {
    ...(own ? { [replacesMomentum]: momentum } : {}),
    ...inIterations(valid, given, iterationsPerPass, schedules),
  };
  return withStarts(resolved, { schedules, given, base, old, epoch });
}

/**
 * The plans of layers. A layer of the plan's method has its parameters, except for those that
 * it names.
 * @throws GradwireError `LAYER_UNKNOWN`, `METHOD_UNKNOWN`, and as `resolveParameters`
 */
export function resolveLayers(
  written: ExchangeSpec['layers'],
  base: Pick<ExchangePlan, 'method' | 'parameters'>,
  before: readonly LayerPlan[],
  setting: PlanSetting,
): readonly LayerPlan[] {
  return written.map(({ match, method: id = base.method, ...given }) => {
    const place = `layers: ${match}`;
    const where = (known?: string): string =>
      known === undefined ? place : `${place}, ${known}`;
    return placed(where, () => {
      const { tensors } = setting;
      if (tensors !== undefined) requireTensor(match, tensors);
      const method = findMethod(id);
      const inherited = method.id === base.method ? base.parameters : undefined;
      const old = before.find(
        (layer) => layer.match === match && layer.method === method.id,
      );
      const parameters = resolveParameters(
        method,
        inherited,
        old?.parameters,
        given,
        setting,
      );
      const label = labelOf(method, parameters);
      return { match, method: method.id, label, parameters };
    });
  });
}
