/** Ticks of times and their texts. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  placeText,
  ticksOf,
  tickText,
  zoneText,
} from '../../../src/renderer/charts/axis-ticks.ts';

const zone = process.env['TZ'];
beforeEach(() => {
  process.env['TZ'] = 'Asia/Kolkata';
});
afterEach(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

const texts = (kind: 'time' | 'clock', min: number, max: number): readonly string[] =>
  ticksOf(kind, { min, max })!.map((value) => tickText(kind, value, { min, max }));

const MIDDAY = Date.UTC(2026, 2, 1, 6, 30);

describe('ticks', () => {
  it('of time since the start are at whole seconds, minutes and hours', () => {
    expect(texts('time', 0, 900)).toEqual([
      '0.0 s',
      '0.2 s',
      '0.4 s',
      '0.6 s',
      '0.8 s',
    ]);
    expect(texts('time', 0, 12_000)).toEqual([
      '0 s',
      '2 s',
      '4 s',
      '6 s',
      '8 s',
      '10 s',
      '12 s',
    ]);
    expect(texts('time', 3_500_000, 3_800_000)).toEqual([
      '0:59:00',
      '1:00:00',
      '1:01:00',
      '1:02:00',
      '1:03:00',
    ]);
  });

  it('of clock time are round on this computer’s clock, with the day at midnight', () => {
    expect(zoneText(MIDDAY)).toBe('UTC+05:30');
    expect(texts('clock', MIDDAY, MIDDAY + 12 * 3_600_000)).toEqual([
      '12:00',
      '14:00',
      '16:00',
      '18:00',
      '20:00',
      '22:00',
      '2 Mar',
    ]);
    expect(texts('clock', MIDDAY + 500, MIDDAY + 6500)[0]).toBe('12:00:01');
    expect(texts('clock', MIDDAY, MIDDAY + 300)[1]).toBe('12:00:00.050');
  });

  it('are few, however long or short the range is', () => {
    for (let power = 0; power <= 12; power++) {
      for (const factor of [1, 2.3, 7.1]) {
        const range = { min: MIDDAY, max: MIDDAY + factor * 10 ** power };
        for (const kind of ['time', 'clock'] as const) {
          expect(ticksOf(kind, range)!.length).toBeLessThanOrEqual(8);
        }
      }
    }
  });

  it('of iterations and bytes are left to the chart', () => {
    expect(ticksOf('iteration', { min: 0, max: 10 })).toBeUndefined();
    expect(ticksOf('bytes', { min: 0, max: 10 })).toBeUndefined();
    expect(tickText('iteration', 12_000, { min: 0, max: 1 })).toBe('12,000');
    expect(tickText('iteration', 0.5, { min: 0, max: 1 })).toBe('');
    expect(tickText('bytes', 2_500_000, { min: 0, max: 1 })).toBe('2.5 MB');
  });
});

describe('the place at the cursor', () => {
  it('is told more closely than by ticks, and not where it is the iteration', () => {
    expect(placeText('iteration', 12, { min: 0, max: 99 })).toBe('');
    expect(placeText('time', 125_400, { min: 0, max: 200_000 })).toBe(
      '0:02:05 since start, ',
    );
    expect(placeText('time', 1520, { min: 0, max: 4000 })).toBe('1.52 s since start, ');
    expect(
      placeText('clock', MIDDAY + 5000, { min: MIDDAY, max: MIDDAY + 600_000 }),
    ).toBe('12:00:05, ');
    expect(placeText('bytes', 2_500_000, { min: 0, max: 9e6 })).toBe('2.5 MB sent, ');
  });

  it('has its day where several are shown', () => {
    const range = { min: MIDDAY, max: MIDDAY + 3 * 86_400_000 };
    expect(placeText('clock', MIDDAY + 86_400_000, range)).toMatch(/2.*12:00:00/);
  });
});
