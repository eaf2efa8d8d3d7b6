/** Machines for which there would be no rank. */
import { inputError } from '../../shared/errors/errors.ts';

/** @throws GradwireError `NODES_IDLE` */
export function requireMachines(ranks: readonly number[], machines = 1): void {
  const few = ranks.find((count) => count < machines);
  if (few === undefined) return;
  throw inputError('NODES_IDLE', `${machines} machines for ${few} ranks`, {
    place: 'machines',
    next: 'Plan fewer machines, or more ranks.',
  });
}
