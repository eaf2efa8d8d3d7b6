/** The error for a name that a registry does not have. */
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import { nearest } from '../../shared/words/nearest.ts';

/** `MODEL_UNKNOWN`, `DATASET_UNKNOWN` or `OPTIMIZER_UNKNOWN`, with the nearest name. */
export function unknownName(
  code: 'DATASET' | 'MODEL' | 'OPTIMIZER',
  place: string,
  value: string,
  registry: ReadonlyMap<string, unknown>,
): GradwireError {
  const known = [...registry.keys()];
  const suggestion = nearest(value, known);
  return inputError(`${code}_UNKNOWN`, `there is no ${code.toLowerCase()} "${value}"`, {
    place,
    next:
      suggestion === undefined
        ? `Valid values: ${known.join(', ')}.`
        : `Did you mean "${suggestion}"?`,
  });
}
