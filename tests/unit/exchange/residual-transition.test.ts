import { describe, expect, it } from 'vitest';
import { planTransition } from '../../../src/agent/exchange/residual-transition.ts';

const none = { residual: 'none', replicas: 'identical' } as const;
const feedback = { residual: 'gradient', replicas: 'identical' } as const;
const update = { residual: 'update', replicas: 'identical' } as const;
const drifting = { residual: 'none', replicas: 'drift' } as const;

describe('the transition from one method to the next', () => {
  it.each([
    ['nothing kept back, nothing to do', none, feedback, 'flush', 'none', false],
    ['same units: kept', feedback, feedback, 'flush', 'kept', false],
    [
      'same units: kept, even where drop was asked',
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
    ['other units: flushed', feedback, update, 'flush', 'flushed', false],
    ['into drift: flushed', feedback, drifting, 'flush', 'flushed', false],
    ['out of drift: weights are averaged', drifting, feedback, 'flush', 'none', true],
    ['from drift to drift: they are not', drifting, drifting, 'flush', 'none', false],
  ] as const)('%s', (_, from, to, policy, residual, resynchronize) => {
    expect(planTransition(from, to, policy)).toEqual({ residual, resynchronize });
  });
});
