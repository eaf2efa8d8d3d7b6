/** Checks for settings of the optimiser without effect, or incomplete ones. */
import { inputError } from '../../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import { OPTIMIZER_OPTIONS, type Optimizer } from './optimizer.ts';

type Given = Partial<ExperimentSpec['optimizer']>;

/** @throws GradwireError `OPTIMIZER_OPTION_IDLE`; `SCHEDULE_INCOMPLETE` */
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
  if (given.nesterov === true && given.momentum === 0) {
    throw idle('nesterov', 'nesterov has no effect without momentum');
  }
  checkClipping(given);
  const { schedule } = given;
  if (schedule === 'step' && (given.decayAt ?? []).length === 0) {
    throw inputError('SCHEDULE_INCOMPLETE', 'the schedule "step" needs decayAt', {
      place: 'optimizer.decayAt',
      next: 'List the iterations at which the rate falls, such as decayAt: [1000, 2000].',
    });
  }
  for (const option of ['decayAt', 'decayFactor'] as const) {
    if (given[option] !== undefined && schedule !== 'step') {
      throw idle(
        option,
        `${option} belongs to the schedule "step", not to "${schedule}"`,
      );
    }
  }
  if (given.power !== undefined && schedule !== 'polynomial') {
    throw idle(
      'power',
      `power belongs to the schedule "polynomial", not to "${schedule}"`,
    );
  }
}

/** @throws GradwireError `OPTIMIZER_OPTION_IDLE` */
export function checkClipping({ clipAt, clipNorm }: Given): void {
  if (clipAt === undefined || clipNorm !== undefined) return;
  throw idle('clipAt', 'clipAt says what clipNorm limits, and there is no clipNorm', {
    next: 'Set clipNorm, or remove clipAt.',
  });
}

const idle = (option: string, message: string, { next } = { next: 'Remove it.' }) =>
  inputError('OPTIMIZER_OPTION_IDLE', message, {
    place: `optimizer.${option}`,
    next,
  });
