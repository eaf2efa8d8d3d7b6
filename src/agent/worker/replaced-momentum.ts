/** The notice about the optimiser's momentum where the compression has one of its own. */
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import type { Notice } from '../../shared/records/notice.ts';
import { decayHasVelocity } from '../training/find-workload.ts';
import type { Trainer } from '../training/trainer.ts';

/** @param replaced the tensors whose momentum the method applies; undefined: nothing to say */
export function momentumReplaced(
  { optimizer }: Pick<ExperimentSpec, 'optimizer'>,
  trainer: Pick<Trainer, 'length' | 'tensors'>,
  replaced: ReadonlySet<string>,
): Notice | undefined {
  const { momentum, weightDecay = 0 } = optimizer;
  if (replaced.size === 0 || momentum === 0) return undefined;
  const elements = trainer.tensors
    .filter(({ name }) => replaced.has(name))
    .reduce((sum, { length }) => sum + length, 0);
  const ofDecay = decayHasVelocity(optimizer)
    ? `, but to their weight decay of ${weightDecay}`
    : `, nor to their weight decay of ${weightDecay}`;
  return {
    level: 'info',
    code: 'MOMENTUM_REPLACED',
    message:
      `the method applies momentum to ${elements} of ${trainer.length} elements, so the ` +
      `optimiser's momentum of ${momentum} does not apply to them` +
      (weightDecay === 0 ? '' : ofDecay),
  };
}
