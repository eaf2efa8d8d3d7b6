/** A sweep's name on the command line: its name, the beginning of its id, or `last`. */
import { inputError } from '../../shared/errors/errors.ts';
import type { RunStore } from '../../main/store/run-store.ts';

/** @throws GradwireError `SWEEP_UNKNOWN`, `SWEEP_AMBIGUOUS` */
export function resolveSweep({ sweeps }: RunStore, name: string): string {
  if (name !== 'last') return sweeps.resolve(name);
  const [newest] = sweeps.list();
  if (newest === undefined) {
    throw inputError('SWEEP_UNKNOWN', 'there are no sweeps yet', {
      next: 'Start one: gradwire sweep quickstart --vary exchange.method=none,topk.',
    });
  }
  return newest.id;
}
