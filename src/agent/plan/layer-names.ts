/** Layers of a plan, whose patterns are to match names of tensors. */
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import { fitsName } from '../../shared/plan/name-pattern.ts';

/** All of a small model's names; of a large one's enough to see how they are made. */
const NAMES_SHOWN = 20;

/** @throws GradwireError `LAYER_UNKNOWN` if no tensor has such a name */
export function requireTensor(match: string, names: readonly string[]): void {
  if (!names.some((name) => fitsName(match, name))) throw layerUnknown(match, names);
}

/** The error for the first layer of a plan without a tensor, if there is one. */
export function unknownLayer(
  { layers = [] }: Pick<ExchangePlan, 'layers'>,
  names: readonly string[],
): GradwireError | undefined {
  const unknown = layers.find(
    ({ match }) => !names.some((name) => fitsName(match, name)),
  );
  return unknown && layerUnknown(unknown.match, names);
}

function layerUnknown(match: string, names: readonly string[]): GradwireError {
  const more = names.length - NAMES_SHOWN;
  const shown = names.slice(0, NAMES_SHOWN).join(', ');
  return inputError('LAYER_UNKNOWN', `no tensor name matches "${match}"`, {
    next: `The tensors are: ${more > 0 ? `${shown} and ${more} more` : shown}.`,
  });
}
