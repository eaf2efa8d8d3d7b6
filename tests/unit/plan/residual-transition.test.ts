import { describe, expect, it } from 'vitest';
import {
  planTransition,
  transitionOf,
  type Transition,
} from '../../../src/agent/plan/residual-transition.ts';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';

const none = { residual: 'none', replicas: 'identical' } as const;
const feedback = { residual: 'gradient', replicas: 'identical' } as const;
const velocity = { residual: 'velocity', replicas: 'identical' } as const;
const drifting = { residual: 'none', replicas: 'drift' } as const;

describe('the transition from one method to the next', () => {
  it.each([
    ['nothing kept back, nothing to do', none, feedback, 'flush', 'none', false],
    ['one is kept after: kept', feedback, feedback, 'flush', 'kept', false],
    [
      'one is kept after: kept, even where drop was asked',
      feedback,
      feedback,
      'drop',
      'kept',
      false,
    ],
    [
      'no residual after: flushed by default',
      feedback,
      none,
      'flush',
      'flushed',
      false,
    ],
    ['no residual after: dropped on request', feedback, none, 'drop', 'dropped', false],
    ['velocities are no gradients', velocity, feedback, 'flush', 'flushed', false],
    ['gradients are no velocities', feedback, velocity, 'drop', 'dropped', false],
    ['velocities stay velocities', velocity, velocity, 'flush', 'kept', false],
    ['into drift: flushed', feedback, drifting, 'flush', 'flushed', false],
    ['out of drift: weights are averaged', drifting, feedback, 'flush', 'none', true],
    ['from drift to drift: they are not', drifting, drifting, 'flush', 'none', false],
  ] as const)('%s', (_, from, to, policy, residual, resynchronize) => {
    expect(planTransition(from, to, policy)).toEqual({ residual, resynchronize });
  });
});

describe('the transition of a plan with layers', () => {
  const tensors = [
    { name: 'w', shape: [5], start: 0, length: 5 },
    { name: 'b', shape: [2], start: 5, length: 2 },
  ];
  const transition = (
    from: Record<string, unknown>,
    to: Record<string, unknown>,
    policy: 'flush' | 'drop' = 'flush',
  ): Transition => transitionOf(resolvePlan(from), resolvePlan(to), tensors, policy);
  const dense = { layers: [{ match: 'b', method: 'none' }] };
  const leaving = [{ start: 5, length: 2 }];

  it('gives up what is kept of the tensors that go dense, and of no other', () => {
    const from = { method: 'topk' };
    const to = { method: 'topk', ...dense };
    const resynchronize = false;
    expect(transition(from, to)).toEqual({
      residual: 'flushed',
      resynchronize,
      leaving,
    });
    expect(transition(from, to, 'drop')).toEqual({
      residual: 'dropped',
      resynchronize,
      leaving,
    });
    expect(transition(to, from)).toEqual({ residual: 'kept', resynchronize });
  });

  it('gives up small tensors alike', () => {
    const to = { method: 'topk', minElements: 3 };
    expect(transition({ method: 'topk' }, to)).toMatchObject({ leaving });
  });

  it('gives up the whole where nothing stays', () => {
    const to = { method: 'none' };
    expect(transition({ method: 'topk', ...dense }, to)).toEqual({
      residual: 'flushed',
      resynchronize: false,
    });
  });

  it('averages weights where any tensor comes out of drift', () => {
    const drifting = { method: 'topk', layers: [{ match: 'b', method: 'a2sgd' }] };
    const other = { method: 'topk', layers: [{ match: 'w', method: 'a2sgd' }] };
    expect(transition(drifting, { method: 'topk' }).resynchronize).toBe(true);
    expect(transition(drifting, other).resynchronize).toBe(true);
    expect(transition(drifting, { method: 'a2sgd' }).resynchronize).toBe(false);
  });
});

it('optional error feedback is part of a plan', () => {
  const tensors = [{ name: 'w', shape: [5], start: 0, length: 5 }];
  const [without, fed] = [false, true].map((errorFeedback) =>
    resolvePlan({ method: 'qsgd', errorFeedback }),
  );
  const topk = resolvePlan({ method: 'topk' });
  const outcome = (from: typeof topk, to: typeof topk): string =>
    transitionOf(from, to, tensors, 'flush').residual;
  expect(outcome(fed!, topk)).toBe('kept');
  expect(outcome(topk, fed!)).toBe('kept');
  expect(outcome(fed!, without!)).toBe('flushed');
  expect(outcome(without!, fed!)).toBe('none');
});

it('dgc keeps back velocities, the other sparsifiers gradients', () => {
  const tensors = [{ name: 'w', shape: [5], start: 0, length: 5 }];
  const residual = (from: string, to: string): string =>
    transitionOf(
      resolvePlan({ method: from }),
      resolvePlan({ method: to }),
      tensors,
      'flush',
    ).residual;
  expect(residual('dgc', 'topk')).toBe('flushed');
  expect(residual('topk', 'dgc')).toBe('flushed');
  expect(residual('topk', 'dct')).toBe('kept');
});
