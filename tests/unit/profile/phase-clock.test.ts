import { describe, expect, it } from 'vitest';
import { PhaseClock } from '../../../src/agent/profile/phase-clock.ts';
import { sumPhases } from '../../../src/shared/phases.ts';

function spin(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('the phase clock', () => {
  it('attributes every moment to exactly one phase', () => {
    const clock = new PhaseClock();
    clock.begin();
    clock.measure('compress', () => {
      spin(3);
    });
    clock.waiting({ kind: 'first', rank: 2 });
    spin(2);
    clock.waiting({ kind: 'rest', rank: 2 });
    spin(2);
    clock.waiting({ kind: 'drain', rank: 1 });
    spin(2);
    clock.waiting({ kind: 'nothing' });
    spin(1);
    const { phases, waitedFor, wall } = clock.end();
    expect(sumPhases(phases)).toBeCloseTo(wall, 6);
    expect(phases.compress).toBeGreaterThanOrEqual(3);
    expect(phases.wait).toBeGreaterThanOrEqual(2);
    expect(waitedFor[2]).toBe(phases.wait);
    expect(phases.receive).toBeGreaterThanOrEqual(2);
    expect(phases.send).toBeGreaterThanOrEqual(2);
    expect(phases.other).toBeGreaterThanOrEqual(1);
  });

  it('lets nested work interrupt the outer one', () => {
    const clock = new PhaseClock();
    clock.begin();
    clock.measure('decompress', () => {
      clock.measure('reduce', () => {
        spin(4);
      });
    });
    const { phases } = clock.end();
    expect(phases.reduce).toBeGreaterThanOrEqual(4);
    expect(phases.decompress).toBeLessThan(4);
  });

  it('counts work as overlapping only while bytes are in flight', () => {
    const clock = new PhaseClock();
    clock.begin();
    clock.waiting({ kind: 'first', rank: 1 });
    clock.measure('reduce', () => {
      spin(2);
    });
    clock.waiting({ kind: 'rest', rank: 1 });
    clock.measure('reduce', () => {
      spin(3);
    });
    const { overlapped, phases } = clock.end();
    expect(overlapped).toBeGreaterThanOrEqual(3);
    expect(overlapped).toBeLessThan(phases.reduce - 1.9);
  });

  it('gives idle time to work that is answered elsewhere, until it is', async () => {
    const clock = new PhaseClock();
    clock.begin();
    const answer = Promise.withResolvers<string>();
    const followed = clock.follow('compress', () => answer.promise);
    clock.waiting({ kind: 'rest', rank: 1 });
    spin(3);
    answer.resolve('done');
    expect(await followed).toBe('done');
    spin(2);
    const { phases, overlapped } = clock.end();
    expect(phases.compress).toBeGreaterThanOrEqual(3);
    expect(phases.receive).toBeGreaterThanOrEqual(2);
    expect(overlapped).toBeGreaterThanOrEqual(3);
    expect(overlapped).toBeLessThanOrEqual(phases.compress);
    expect(clock.follow('apply', () => 7)).toBe(7);
  });

  it('starts afresh with every exchange', () => {
    const clock = new PhaseClock();
    clock.begin();
    spin(2);
    clock.end();
    spin(2);
    clock.begin();
    expect(clock.end().wall).toBeLessThan(1);
  });
});
