/** Settings that the optimiser of a spec does not have. */
import { inputError } from '../../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import { OPTIMIZER_OPTIONS, type Optimizer } from './optimizer.ts';

type Given = Partial<ExperimentSpec['optimizer']>;

/** @throws GradwireError `OPTIMIZER_OPTION_IDLE` */
export function checkOptimizer(optimizer: Optimizer, given: Given): void {
  const { id, leavesMomentum, options } = optimizer;
  const { momentum = 0 } = given;
  if (momentum > 0 && !leavesMomentum) {
    throw idle('momentum', `${id} has no momentum, so ${momentum} has no effect`, {
      next: 'Remove it, or set it to 0.',
    });
  }
  for (const option of OPTIMIZER_OPTIONS) {
    if (given[option] !== undefined && !options.includes(option)) {
      const takes = options.length === 0 ? 'none' : options.join(', ');
      throw idle(option, `${id} has no ${option}; it has: ${takes}`);
    }
  }
}

const idle = (option: string, message: string, { next } = { next: 'Remove it.' }) =>
  inputError('OPTIMIZER_OPTION_IDLE', message, {
    place: `optimizer.${option}`,
    next,
  });
