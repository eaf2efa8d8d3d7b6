import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PlanSchedule } from '../../../src/agent/plan/plan-schedule.ts';
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

const planSwitch = (epoch: number, notBefore = 0): PlanSwitch => ({
  epoch,
  notBefore,
  plan: plan(`method-${epoch}`),
  residual: 'flush',
});

describe('the plan schedule', () => {
  it('passes launched switches exactly at the requested iteration', () => {
    const schedule = new PlanSchedule(plan('none'), [planSwitch(1, 50)]);
    expect(schedule.advance(49)).toEqual([]);
    expect(schedule.advance(50).map(({ epoch }) => epoch)).toEqual([1]);
    expect(schedule.plan.method).toBe('method-1');
    expect(schedule.advance(51)).toEqual([]);
  });

  it('holds a switch back until every rank knows it', () => {
    const schedule = new PlanSchedule(plan('none'));
    schedule.learn(planSwitch(1));
    expect(schedule.advance(10)).toEqual([]);
    schedule.agree(0);
    expect(schedule.advance(11)).toEqual([]);
    schedule.agree(1);
    expect(schedule.advance(12)).toHaveLength(1);
    expect(schedule.epoch).toBe(1);
  });

  it('does not know an epoch whose predecessor is still on its way', () => {
    const schedule = new PlanSchedule(plan('none'));
    schedule.learn(planSwitch(2));
    expect(schedule.knownEpoch).toBe(0);
    schedule.learn(planSwitch(1));
    expect(schedule.knownEpoch).toBe(2);
  });

  it('lets a switch of now pass one that is scheduled for later', () => {
    const schedule = new PlanSchedule(plan('none'), [planSwitch(1, 100)]);
    schedule.learn(planSwitch(2));
    schedule.agree(2);
    expect(schedule.advance(7).map(({ epoch }) => epoch)).toEqual([2]);
    expect(schedule.advance(100).map(({ epoch }) => epoch)).toEqual([1]);
    expect(schedule.plan.method).toBe('method-1');
  });

  it('takes all ranks over the same fences, whenever each of them hears of a switch', () => {
    const arrival = fc.record({
      notBefore: fc.nat(30),
      delays: fc.array(fc.nat(12), { minLength: 3, maxLength: 3 }),
      issued: fc.nat(25),
    });
    fc.assert(
      fc.property(fc.array(arrival, { maxLength: 8 }), (arrivals) => {
        const ordered = arrivals.toSorted((a, b) => a.issued - b.issued);
        const ranks = [0, 1, 2].map(() => new PlanSchedule(plan('none')));
        const passed: string[][] = ranks.map(() => []);
        for (let iteration = 0; iteration < 60; iteration++) {
          ordered.forEach(({ notBefore, delays, issued }, index) => {
            ranks.forEach((rank, r) => {
              if (issued + delays[r]! === iteration) {
                rank.learn(planSwitch(index + 1, notBefore));
              }
            });
          });
          ranks.forEach((rank, r) => {
            for (const { epoch } of rank.advance(iteration)) {
              passed[r]!.push(`${epoch}@${iteration}`);
            }
          });
          const agreed = Math.min(...ranks.map(({ knownEpoch }) => knownEpoch));
          for (const rank of ranks) rank.agree(agreed);
        }
        expect(passed[1]).toEqual(passed[0]);
        expect(passed[2]).toEqual(passed[0]);
        expect(passed[0]).toHaveLength(ordered.length);
      }),
    );
  });

  it('puts the iteration of a fence where a plan waits for it, for all that follow', () => {
    const waiting = (epoch: number, notBefore: number, fence: number): PlanSwitch => {
      const parameters = { rampStart: { fence }, warmupStart: 2 };
      const layers = [{ match: '*', method: 'topk', parameters }];
      const base = planSwitch(epoch, notBefore);
      return { ...base, plan: { ...base.plan, parameters, layers } };
    };
    const schedule = new PlanSchedule(plan('none'), [
      waiting(1, 0, 1),
      waiting(2, 0, 1),
    ]);
    schedule.learn(waiting(3, 9, 3));
    schedule.learn(waiting(4, 0, 3));
    const startsAt = (iteration: number): unknown[] =>
      schedule.advance(iteration).map((passed) => {
        const own = passed.plan.layers![0]!.parameters;
        expect(own).toEqual(passed.plan.parameters);
        return [passed.epoch, own.rampStart, own.warmupStart];
      });
    expect(startsAt(5)).toEqual([
      [1, 5, 2],
      [2, 5, 2],
    ]);
    expect(schedule.plan.parameters).toEqual({ rampStart: 5, warmupStart: 2 });
    schedule.agree(4);
    // The fourth passes the third, which it was to follow.
    expect(startsAt(7)).toEqual([[4, 7, 2]]);
    expect(startsAt(9)).toEqual([[3, 9, 2]]);
  });
});
