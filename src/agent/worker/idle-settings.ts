/** Settings of a spec that have no effect under a plan. */
import { residualOf } from '../methods/method.ts';
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { asynchronousOf } from '../../shared/spec/parallelism/asynchronous.ts';
import type { Notice } from '../../shared/records/notice.ts';
import { unknownLayer } from '../plan/layer-names.ts';
import { planBuckets, type FlatTensor } from '../plan/buckets.ts';

/** Notices that are the same on all ranks with these tensors. */
export function idleUnder(
  plan: ExchangePlan,
  spec: ExperimentSpec,
  tensors: readonly FlatTensor[],
): readonly Notice[] {
  const buckets = planBuckets(tensors, plan);
  const notices: Notice[] = [];
  if (spec.overlap === true && buckets.length === 1) {
    const { method, parameters } = buckets[0]!.policy;
    const whole = method.inOneBucket?.(parameters) === true;
    notices.push({
      level: 'warning',
      code: 'OVERLAP_IDLE',
      message:
        'nothing can overlap: all tensors are in one bucket, which is ready only when the ' +
        'backward pass ends. ' +
        (whole
          ? `${method.id} needs the whole model with these parameters`
          : `Lower exchange.bucketBytes (${plan.bucketBytes})`),
    });
  }
  const unknown = unknownLayer(
    plan,
    tensors.map(({ name }) => name),
  );
  // Possible after a switch: a program's tensors were not known when the switch was checked.
  if (unknown !== undefined) {
    const { message, next } = unknown;
    const text = `${message}. ${next ?? ''}`;
    notices.push({ level: 'warning', code: 'LAYER_UNKNOWN', message: text });
  }
  const keepsNone = buckets.every(
    ({ policy }) => residualOf(policy.method, policy.parameters) === 'none',
  );
  if (asynchronousOf(spec)?.drainEvery !== undefined && keepsNone) {
    notices.push({
      level: 'warning',
      code: 'DRAIN_IDLE',
      message: `parallelism.drainEvery has no effect: ${plan.method} keeps no residual`,
    });
  }
  return notices;
}
