/** The error for a machine that is not there, with what the user may have meant. */
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import { nearest } from '../../shared/words/nearest.ts';

export interface KnownNodes {
  readonly names: readonly string[];
  /** The name now of a machine that had the unknown one. */
  readonly renamedTo?: string | undefined;
  /** The name's place, if it is part of something. */
  readonly place?: string | undefined;
}

/** @returns `NODE_UNKNOWN` */
export function unknownNode(
  name: string,
  { names, place, renamedTo }: KnownNodes,
): GradwireError {
  return inputError('NODE_UNKNOWN', `there is no machine named "${name}"`, {
    place,
    next: nextStep(nearest(name, names), names, renamedTo),
  });
}

function nextStep(
  suggestion: string | undefined,
  names: readonly string[],
  renamedTo: string | undefined,
): string {
  if (renamedTo !== undefined) return `It was renamed: use "${renamedTo}".`;
  if (suggestion !== undefined) return `Did you mean "${suggestion}"?`;
  if (names.length > 0) return `Nodes: ${names.join(', ')}.`;
  return 'Add it with: gradwire nodes add.';
}
