/** The quantisation of a plan's sums, and the collective that applies it. */
import { isDeepStrictEqual } from 'node:util';
import { inputError } from '../../shared/errors/errors.ts';
import { isAutomatic, type ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import {
  assertQuantizes,
  collectivesFor,
  findCollective,
  quantizingFor,
} from '../collectives/registry.ts';
import { carriageOf } from '../methods/method.ts';
import { findMethod } from '../methods/registry.ts';

/**
 * The plan with its quantisation, and with a collective that applies it. The previous
 * plan's quantisation continues while the method stays and the collective supports it.
 * @throws GradwireError `QUANTIZE_MISFIT`
 */
export function withQuantization(
  { quantizeSums: asked, ...plan }: ExchangePlan,
  change: Readonly<Record<string, unknown>>,
  base: ExchangePlan | undefined,
): ExchangePlan {
  const goesOn = base?.method === plan.method && change.quantizeSums !== null;
  const kept = goesOn ? base.quantizeSums : undefined;
  const quantizeSums = asked ?? kept;
  if (quantizeSums === undefined) return plan;
  // The app's panel repeats current values, which is not a choice.
  const chosenByUser =
    asked !== undefined && !isDeepStrictEqual(asked, base?.quantizeSums);
  const method = findMethod(plan.method);
  const { payload, reducible } = carriageOf(method, plan.parameters);
  const able =
    reducible && method.values === undefined
      ? collectivesFor(payload).filter(({ quantizes }) => quantizes === true)
      : [];
  if (able.some(({ id }) => id === plan.collective)) return { ...plan, quantizeSums };
  if (isAutomatic(plan.collective) && able.length > 0) {
    return { ...plan, collective: quantizingFor(payload).id, quantizeSums };
  }
  if (!chosenByUser) return plan;
  if (!isAutomatic(plan.collective)) assertQuantizes(findCollective(plan.collective));
  throw inputError(
    'QUANTIZE_MISFIT',
    `the collective cannot quantise what ${method.id} sends`,
    {
      next: 'Remove quantizeSums, or use a method whose payload is dense or sparse, of f32.',
    },
  );
}
