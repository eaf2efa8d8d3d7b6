import { describe, expect, it } from 'vitest';
import {
  GuardWatch,
  type WayBack,
} from '../../../src/agent/supervisor/runs/guard-watch.ts';
import type { SwitchGuard } from '../../../src/shared/plan/switch-guard.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import type { SwitchRecord } from '../../../src/shared/records/switch.ts';
import { iterationRecord } from '../renderer/records.ts';

const plan = (method: string) => ({
  method,
  parameters: {},
  collective: 'ring',
  bucketBytes: 1,
});

function switchAt(fence: number, epoch: number): SwitchRecord {
  return {
    type: 'switch',
    at: 0,
    fence,
    epoch,
    from: plan('none'),
    to: plan('topk'),
    residual: 'none',
    resynchronized: false,
  };
}

interface Side {
  readonly wall: number;
  readonly loss?: number;
  readonly residual?: number;
}

/** The way back, and the iteration after which it was wanted, of a switch at 60 of 160. */
function watched(
  guard: SwitchGuard,
  before: Side,
  after: (iteration: number) => Side,
  between: readonly RunRecord[] = [],
): { readonly way?: WayBack; readonly iteration?: number } {
  const watch = new GuardWatch(2, 1);
  const planned = {
    epoch: 1,
    notBefore: 0,
    plan: plan('topk'),
    residual: 'flush',
  } as const;
  watch.planned({ ...planned, guard });
  for (let iteration = 0; iteration < 160; iteration++) {
    if (iteration === 60) watch.saw(switchAt(60, 1));
    if (iteration === 65) for (const record of between) watch.saw(record);
    const { loss, residual, wall } = iteration < 60 ? before : after(iteration);
    for (const rank of [0, 1]) {
      const record = {
        ...iterationRecord({ rank, iteration, phases: { compute: wall } }),
        loss,
        ...(residual === undefined ? {} : { residualNorm: residual }),
      };
      const way = watch.saw(record);
      if (way !== undefined) return { way, iteration };
    }
  }
  return {};
}

describe('the guard of a switch', () => {
  it('goes back where a program’s loss is not finite any more, which no record has', () => {
    const lost = watched({ loss: 1.5 }, { wall: 10, loss: 2 }, () => ({ wall: 10 }));
    expect(lost.iteration).toBe(70);
    expect(lost.way?.why).toMatch(/no iteration has a finite loss any more/);
    const later = watched({ loss: 1.5 }, { wall: 10, loss: 2 }, (iteration) =>
      iteration < 85 ? { wall: 10, loss: 2 } : { wall: 10 },
    );
    expect(later.way?.why).toBe(lost.way?.why);
  });

  it('does not take a loss that is logged now and then for one that is not finite', () => {
    const watch = new GuardWatch(1, 1);
    watch.planned({
      epoch: 1,
      notBefore: 0,
      plan: plan('topk'),
      residual: 'flush',
      guard: { loss: 1.5 },
    });
    for (let iteration = 0; iteration < 160; iteration++) {
      if (iteration === 60) watch.saw(switchAt(60, 1));
      const record = iterationRecord({ rank: 0, iteration, phases: { compute: 10 } });
      const isLogged = iteration % 15 === 0;
      expect(watch.saw({ ...record, loss: isLogged ? 2 : undefined })).toBeUndefined();
    }
  });

  it('does not go back for single steps without a loss, nor where none was ever logged', () => {
    const skipped = watched({ loss: 1.5 }, { wall: 10, loss: 2 }, (iteration) =>
      iteration % 10 === 0 ? { wall: 10 } : { wall: 10, loss: 2 },
    );
    expect(skipped.way).toBeUndefined();
    expect(watched({ loss: 1.5 }, { wall: 10 }, () => ({ wall: 10 })).way).toBe(
      undefined,
    );
  });

  it('goes back once the median step exceeds its limit, and says by how much', () => {
    const { iteration, way } = watched({ step: 1.2 }, { wall: 10 }, () => ({
      wall: 14,
    }));
    expect(way?.to.method).toBe('none');
    expect(way?.why).toBe(
      'step 14.0 ms, 1.40× the 10.0 ms before, over the limit of 1.20×',
    );
    // After ten iterations, without the fence's own.
    expect(iteration).toBe(70);
  });

  it('leaves a run alone that keeps its limits, or is slow at the fence alone', () => {
    const calm = (iteration: number) => ({ wall: iteration === 60 ? 900 : 11 });
    expect(watched({ step: 1.2 }, { wall: 10 }, calm)).toEqual({});
  });

  it('sees a loss that rises later, but not after fifty iterations', () => {
    const rises = (from: number) => (iteration: number) => ({
      wall: 10,
      loss: iteration < from ? 1 : 9,
    });
    const before = { wall: 10, loss: 1 };
    expect(watched({ loss: 2 }, before, rises(85)).way?.why).toContain('loss 9.0000');
    expect(watched({ loss: 2 }, before, rises(112))).toEqual({});
  });

  it('compares a residual with its first iterations if there was none before', () => {
    const grows = (iteration: number) => ({ wall: 10, residual: iteration - 59 });
    expect(watched({ residual: 3 }, { wall: 10 }, grows).way?.why).toContain(
      'residual norm',
    );
    const stays = () => ({ wall: 10, residual: 5 });
    expect(watched({ residual: 3 }, { wall: 10 }, stays)).toEqual({});
  });

  it('compares with the plan before the switch, not with those before that one', () => {
    const watch = new GuardWatch(1, 1);
    const request = { notBefore: 0, plan: plan('topk'), residual: 'flush' } as const;
    watch.planned({ ...request, epoch: 2, guard: { step: 1.2 } });
    const ways: unknown[] = [];
    for (let iteration = 0; iteration < 140; iteration++) {
      if (iteration === 60) watch.saw(switchAt(60, 1));
      if (iteration === 75) watch.saw(switchAt(75, 2));
      const compute = iteration < 60 ? 10 : iteration < 75 ? 30 : 33;
      const record = iterationRecord({ rank: 0, iteration, phases: { compute } });
      ways.push(watch.saw(record));
    }
    expect(ways.filter((way) => way !== undefined)).toEqual([]);
  });

  it('sees a residual that is measured in every tenth iteration', () => {
    const grows = (iteration: number) => ({
      wall: 10,
      ...(iteration % 10 === 0 ? { residual: iteration - 59 } : {}),
    });
    expect(watched({ residual: 1.5 }, { wall: 10 }, grows)).toMatchObject({
      way: { why: expect.stringContaining('residual norm 21.0000, 1.91× the 11.0000') },
      iteration: 80,
    });
  });

  it('leads back to the plan that has run, not to one that another switch replaced at its fence', () => {
    const watch = new GuardWatch(1, 1);
    const request = { notBefore: 0, plan: plan('topk'), residual: 'flush' } as const;
    watch.planned({ ...request, epoch: 2, guard: { step: 1.2 } });
    let way: WayBack | undefined;
    for (let iteration = 0; iteration < 100; iteration++) {
      if (iteration === 60) {
        watch.saw({ ...switchAt(60, 1), to: plan('qsgd') });
        watch.saw({ ...switchAt(60, 2), from: plan('qsgd') });
      }
      const compute = iteration < 60 ? 10 : 30;
      const record = iterationRecord({ rank: 0, iteration, phases: { compute } });
      way ??= watch.saw(record);
    }
    expect(way?.to.method).toBe('none');
  });

  it('takes a loss below 0 as it is', () => {
    const falls = () => ({ wall: 10, loss: -12 });
    const before = { wall: 10, loss: -10 };
    expect(watched({ loss: 1.5 }, before, falls)).toEqual({});
    const rises = () => ({ wall: 10, loss: -4 });
    expect(watched({ loss: 1.5 }, before, rises).way?.why).toBe(
      'loss -4.0000, from -10.0000 before, over the limit of 1.50×',
    );
  });

  it('ends with the next switch, and watches nothing without a limit', () => {
    const slow = () => ({ wall: 90 });
    expect(watched({ step: 1.2 }, { wall: 10 }, slow, [switchAt(65, 2)])).toEqual({});
    expect(watched({}, { wall: 10 }, slow)).toEqual({});
  });
});
