/** Collectives by the methods whose payloads they carry. */
import { collectivesFor } from '../collectives/registry.ts';
import { findMethod } from '../methods/registry.ts';
import { loses } from './tensor-policy.ts';

/** Ids of the collectives that can carry a method's payload. */
export function collectivesOfMethod(id: string): readonly string[] {
  const method = findMethod(id);
  const fitting = method.reducible ? collectivesFor(method.payload) : [];
  return fitting
    .filter((collective) => !loses(method.residual, collective))
    .map((collective) => collective.id);
}
