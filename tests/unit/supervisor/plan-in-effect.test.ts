import { describe, expect, it } from 'vitest';
import { PlanInEffect } from '../../../src/agent/supervisor/runs/plan-in-effect.ts';
import type {
  ExchangePlan,
  PlanSwitch,
} from '../../../src/shared/plan/exchange-plan.ts';

const plan = (method: string): ExchangePlan => ({
  method,
  parameters: {},
  collective: 'auto',
  bucketBytes: 1,
});
const to = (method: string, epoch: number, notBefore = 0): PlanSwitch => ({
  epoch,
  notBefore,
  plan: plan(method),
  residual: 'flush',
});

describe('the plan that a switch changes', () => {
  it('is the spec’s while a scheduled switch lies ahead, then the scheduled one', () => {
    const forecast = new PlanInEffect(plan('none'), [to('topk', 1, 100)]);
    forecast.reached(10);
    expect(forecast.before(0).method).toBe('none');
    expect(forecast.before(99).method).toBe('none');
    expect(forecast.before(100).method).toBe('topk');
    forecast.reached(99);
    expect(forecast.before(0).method).toBe('topk');
  });

  it('is the newest of those requested at once, even before a rank has adopted it', () => {
    const forecast = new PlanInEffect(plan('none'));
    forecast.add(to('topk', 1));
    forecast.add(to('a2sgd', 2));
    expect(forecast.before(0).method).toBe('a2sgd');
  });

  it('gives way to a scheduled switch that comes after it', () => {
    const forecast = new PlanInEffect(plan('none'), [to('topk', 1, 100)]);
    forecast.reached(10);
    forecast.add(to('a2sgd', 2));
    expect(forecast.before(50).method).toBe('a2sgd');
    expect(forecast.before(100).method).toBe('topk');
  });

  it('stays with a switch requested after the scheduled one', () => {
    const forecast = new PlanInEffect(plan('none'), [to('topk', 1, 100)]);
    forecast.reached(150);
    forecast.add(to('a2sgd', 2));
    expect(forecast.before(0).method).toBe('a2sgd');
  });

  it('has the iterations of fences that the ranks have passed', () => {
    const forecast = new PlanInEffect(plan('none'));
    const parameters = { rampStart: { fence: 1 } };
    forecast.add({ ...to('topk', 1), plan: { ...plan('topk'), parameters } });
    expect(forecast.before(0).parameters).toEqual(parameters);
    forecast.passed(2, 11, 11);
    expect(forecast.before(0).parameters).toEqual(parameters);
    forecast.passed(1, 24, 12);
    forecast.reached(24);
    expect(forecast.before(0).parameters).toEqual({ rampStart: 12 });
  });

  it('is that of the last fence, however late a switch was passed', () => {
    // A switch that was wanted at once, while ranks were just before a scheduled one.
    const forecast = new PlanInEffect(plan('none'), [to('topk', 1, 50)]);
    forecast.reached(48);
    forecast.add(to('a2sgd', 2));
    forecast.passed(1, 50, 50);
    forecast.passed(2, 52, 52);
    forecast.reached(60);
    expect(forecast.before(0).method).toBe('a2sgd');
  });

  it('is that of the last fence, too, where switches of before are learned anew', () => {
    const forecast = new PlanInEffect(plan('none'), [to('topk', 1, 50)]);
    forecast.add(to('a2sgd', 2));
    forecast.reached(99);
    forecast.passed(1, 50, 50);
    forecast.passed(2, 82, 82);
    expect(forecast.before(0).method).toBe('a2sgd');
  });
});
