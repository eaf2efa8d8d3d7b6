/**
 * Settings that need vectors as long as the gradient in the arena, or in one piece, and so cannot be
 * had with windows. Refused before the first step.
 */
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import {
  checkpointInterval,
  type ExperimentSpec,
} from '../../shared/spec/experiment-spec.ts';
import { isProgram } from '../../shared/spec/program-spec.ts';
import { formatBytes } from '../../shared/words/units.ts';
import { driftOf } from './tensor-policy.ts';
import type { FlatTensor } from './buckets.ts';

/** Elements of the longest vector that threads can send each other: V8 writes its bytes in 32 bits. */
const MOST_ELEMENTS = 2 ** 30 - 1;

interface Conflict {
  readonly what: string;
  readonly place: string;
  readonly next: string;
}

/** @throws GradwireError `MEMORY_TOO_SMALL` for a setting that windows cannot serve */
export function requireWindowSettings(
  spec: ExperimentSpec,
  plans: readonly ExchangePlan[],
  tensors: readonly FlatTensor[],
): void {
  const length = tensors.reduce((sum, tensor) => sum + tensor.length, 0);
  const conflict = conflictOf(spec, plans, tensors, length);
  if (conflict !== undefined) throw refusal(conflict, length);
}

function conflictOf(
  spec: ExperimentSpec,
  plans: readonly ExchangePlan[],
  tensors: readonly FlatTensor[],
  length: number,
): Conflict | undefined {
  const { compareEvery = 0, optimizer, parallelism } = spec;
  if (length > MOST_ELEMENTS) {
    return {
      what: `a gradient has at most ${MOST_ELEMENTS} elements`,
      place: 'workload.model',
      next: 'Use a smaller model.',
    };
  }
  if (compareEvery > 0) {
    return {
      what: 'compareEvery keeps a copy of the gradient there',
      place: 'compareEvery',
      next: 'Remove it.',
    };
  }
  if (optimizer.fullGradientEvery !== undefined) {
    return {
      what: 'optimizer.fullGradientEvery keeps a second gradient there',
      place: 'optimizer.fullGradientEvery',
      next: 'Remove it.',
    };
  }
  if (parallelism !== undefined && parallelism.kind !== 'synchronous') {
    return {
      what: `parallelism.kind ${parallelism.kind} moves weights there`,
      place: 'parallelism.kind',
      next: 'Use parallelism.kind: synchronous.',
    };
  }
  if (checkpointInterval(spec) > 0 && !isProgram(spec.workload)) {
    return {
      what: 'a checkpoint has its residual in one piece',
      place: spec.checkpointEvery === undefined ? 'onFailure' : 'checkpointEvery',
      next: 'Set checkpointEvery to 0.',
    };
  }
  const drifting = plans.find((plan) => driftOf(plan, tensors).drifts);
  if (drifting === undefined) return undefined;
  return {
    what: `${drifting.method} lets replicas drift, whose weights are compared there`,
    place: 'exchange.method',
    next: 'Use a method whose replicas stay identical.',
  };
}

const refusal = ({ next, place, what }: Conflict, length: number): GradwireError =>
  inputError(
    'MEMORY_TOO_SMALL',
    `a gradient of ${length} elements (${formatBytes(4 * length)}) is exchanged in windows of ` +
      `the arena, which it does not fit; ${what}`,
    { place, next },
  );
