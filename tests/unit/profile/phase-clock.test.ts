import { describe, expect, it } from 'vitest';
import { PhaseClock } from '../../../src/agent/profile/phase-clock.ts';
import { zeroPhases } from '../../../src/shared/records/phases.ts';
import { ManualClock } from '../manual-clock.ts';

function begun(): { time: ManualClock; clock: PhaseClock } {
  const time = new ManualClock();
  const clock = new PhaseClock(time.now);
  clock.begin();
  return { time, clock };
}

describe('the phase clock', () => {
  it('attributes every moment to exactly one phase', () => {
    const { time, clock } = begun();
    clock.measure('compress', () => {
      time.advance(3);
    });
    clock.waiting({ kind: 'first', rank: 2 });
    time.advance(5);
    clock.waiting({ kind: 'rest', rank: 2 });
    time.advance(7);
    clock.waiting({ kind: 'drain', rank: 1 });
    time.advance(11);
    clock.waiting({ kind: 'nothing' });
    time.advance(13);
    expect(clock.end()).toEqual({
      phases: {
        ...zeroPhases(),
        compress: 3,
        wait: 5,
        receive: 7,
        send: 11,
        other: 13,
      },
      waitedFor: { 2: 5 },
      overlapped: 0,
      wall: 39,
    });
  });

  it('tells what was hidden from what was not', () => {
    const time = new ManualClock();
    const clock = new PhaseClock(time.now);
    clock.begin(true);
    clock.measure('compress', () => {
      time.advance(3);
    });
    clock.waiting({ kind: 'first', rank: 1 });
    time.advance(5);
    const moment = time.now();
    time.advance(2);
    // Told late: two parts of the wait and all of this came after it.
    clock.measure('decompress', () => {
      time.advance(4);
    });
    clock.hideUntil(moment);
    time.advance(5);
    clock.waiting({ kind: 'rest', rank: 1 });
    clock.measure('reduce', () => {
      time.advance(11);
    });
    const { hidden, overlapped, phases, waitedFor } = clock.end();
    expect(hidden).toEqual({
      phases: { ...zeroPhases(), compress: 3, wait: 5 },
      waitedFor: { 1: 5 },
    });
    expect(phases).toMatchObject({ compress: 3, wait: 12, decompress: 4, reduce: 11 });
    expect(waitedFor).toEqual({ 1: 12 });
    expect(overlapped).toBe(11);
    clock.begin();
    expect(clock.end().hidden).toBeUndefined();
    clock.hideUntil(Infinity);
    clock.begin();
    expect(clock.end().hidden).toBeUndefined();
  });

  it('lets nested work interrupt the outer one', () => {
    const { time, clock } = begun();
    clock.measure('decompress', () => {
      time.advance(1);
      clock.measure('reduce', () => {
        time.advance(4);
      });
      time.advance(2);
    });
    const { phases } = clock.end();
    expect(phases).toMatchObject({ reduce: 4, decompress: 3, other: 0 });
  });

  it('counts work as overlapping only while bytes are in flight', () => {
    const { time, clock } = begun();
    clock.waiting({ kind: 'first', rank: 1 });
    clock.measure('reduce', () => {
      time.advance(2);
    });
    clock.waiting({ kind: 'rest', rank: 1 });
    clock.measure('reduce', () => {
      time.advance(3);
    });
    const { overlapped, phases } = clock.end();
    expect(phases.reduce).toBe(5);
    expect(overlapped).toBe(3);
  });

  it('gives idle time to work that is answered elsewhere, until it is', async () => {
    const { time, clock } = begun();
    const answer = Promise.withResolvers<string>();
    const followed = clock.follow('compress', () => answer.promise);
    clock.waiting({ kind: 'rest', rank: 1 });
    time.advance(3);
    answer.resolve('done');
    expect(await followed).toBe('done');
    time.advance(2);
    const { phases, overlapped } = clock.end();
    expect(phases).toMatchObject({ compress: 3, receive: 2, other: 0 });
    expect(overlapped).toBe(3);
    expect(clock.follow('apply', () => 7)).toBe(7);
  });

  it('starts afresh with every exchange', () => {
    const { time, clock } = begun();
    time.advance(2);
    clock.end();
    time.advance(2);
    clock.begin();
    expect(clock.end()).toMatchObject({ wall: 0, phases: zeroPhases() });
  });
});
