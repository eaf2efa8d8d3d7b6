/** Registries: definitions by id, in the order in which lists and forms show them. */
import { inputError, type GradwireError } from '../errors/errors.ts';

/** The form of ids, which appear in specs, command lines and file names. */
const ID = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/** The kind of a registry's definitions, as in `METHOD` and "compression method". */
export interface RegistryKind {
  readonly code: 'METHOD' | 'COLLECTIVE' | 'MODEL' | 'DATASET' | 'ORDER';
  readonly noun: string;
}

/**
 * Adds a definition.
 * @param reserved ids with another meaning where this kind is named
 * @throws GradwireError `…_INVALID` for an invalid or reserved id, `…_DUPLICATE` for one that is
 * taken
 */
export function register<Definition extends { readonly id: string }>(
  registry: Map<string, Definition>,
  definition: Definition,
  kind: RegistryKind,
  reserved: readonly string[] = [],
): void {
  const { id } = definition;
  if (!ID.test(id)) {
    throw invalidDefinition(kind, id, 'its id needs lower-case words with hyphens');
  }
  if (registry.has(id) || reserved.includes(id)) {
    throw inputError(
      `${kind.code}_DUPLICATE`,
      `the ${kind.noun} id "${id}" is already taken`,
      { next: 'Register it under another id, and only once per process.' },
    );
  }
  registry.set(id, definition);
}

/** The error of a definition that cannot be registered. */
export function invalidDefinition(
  { code, noun }: RegistryKind,
  id: string,
  why: string,
): GradwireError {
  return inputError(
    `${code}_INVALID`,
    `the ${noun} "${id}" cannot be registered: ${why}`,
    { next: 'Change its definition; see docs/extending.md for what it needs.' },
  );
}
