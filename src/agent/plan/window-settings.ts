/**
 * Refusals before the first step of what does not fit the arena, not even in windows: buckets, and
 * settings that need vectors as long as the gradient there, or in one piece.
 */
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import {
  checkpointInterval,
  type ExperimentSpec,
} from '../../shared/spec/experiment-spec.ts';
import { isProgram } from '../../shared/spec/program-spec.ts';
import { formatBytes, formatCount } from '../../shared/words/units.ts';
import { largestOf, planBuckets, type FlatTensor } from './buckets.ts';
import { driftOf } from './tensor-policy.ts';
import { vectorBytes, windowsOf, type ArenaSetting } from './windows.ts';

/** Elements of the longest vector that threads can send each other: V8 writes its bytes in 32 bits. */
const MOST_ELEMENTS = 2 ** 30 - 1;

interface Conflict {
  readonly what: string;
  readonly place: string;
  readonly next: string;
}

/** @throws GradwireError `MEMORY_TOO_SMALL` where neither the arena nor its windows have room */
export function requireWindowRoom(
  tensors: readonly FlatTensor[],
  plans: readonly ExchangePlan[],
  setting: ArenaSetting,
): void {
  const all = plans.map((plan) => planBuckets(tensors, plan));
  const needed = Math.max(...all.map(vectorBytes));
  if (needed <= setting.arenaBytes) return;
  const misfit = all.find((buckets) => windowsOf(buckets, setting) === undefined);
  if (misfit === undefined) return;
  const { length, policy, tensors: own } = largestOf(misfit);
  const [first] = own;
  throw inputError(
    'MEMORY_TOO_SMALL',
    `gradient and residual need ${formatCount(needed)} bytes of a rank's arena, which has ` +
      `${formatCount(setting.arenaBytes)}; and its windows have no room for the longest bucket ` +
      `(${formatCount(length)} elements, ${own.length === 1 ? first!.name : `from ${first!.name}`}) ` +
      `beside what ${policy.method.id} keeps and sends`,
    {
      place: 'workload.model',
      next: 'Split the largest tensor, use smaller buckets (exchange.bucketBytes), or a method that keeps less.',
    },
  );
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
      what: `a gradient has at most ${formatCount(MOST_ELEMENTS)} elements`,
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
    `a gradient of ${formatCount(length)} elements (${formatBytes(4 * length)}) is exchanged in windows of ` +
      `the arena, which it does not fit; ${what}`,
    { place, next },
  );
