/**
 * Ticks of a clock that is set within the range that is shown. Texts of days are left out: processes
 * of tests are shared, and what writes these keeps the zone that it was made in.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ticksOf, tickText } from '../../../src/renderer/charts/axis-ticks.ts';

const zone = process.env['TZ'];
beforeAll(() => {
  process.env['TZ'] = 'Europe/Berlin';
});
afterAll(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

const HOUR = 3_600_000;
const ticks = (min: number, max: number): readonly number[] =>
  ticksOf('clock', { min, max })!;

const moment = (at: number): string => new Date(at).toISOString().slice(5, 16);

describe('ticks of a clock that is set', () => {
  it.each([
    [
      'back',
      Date.UTC(2026, 9, 23, 10),
      ['10-23T22:00', '10-24T22:00', '10-25T23:00', '10-26T23:00'],
    ],
    [
      'forward',
      Date.UTC(2026, 2, 27, 11),
      ['03-27T23:00', '03-28T23:00', '03-29T22:00', '03-30T22:00'],
    ],
  ])('are at midnight of each day when it is set %s', (_, from, midnights) => {
    expect(ticks(from, from + 96 * HOUR).map(moment)).toEqual(midnights);
  });

  it('come twice in the hour that does, and not in the one that is left out', () => {
    const shown = (min: number): readonly (readonly [string, string])[] => {
      const range = { min, max: min + 4 * HOUR };
      return ticks(range.min, range.max).map((at) => [
        tickText('clock', at, range),
        moment(at),
      ]);
    };
    expect(shown(Date.UTC(2026, 9, 24, 23, 30))).toEqual([
      ['02:00', '10-25T00:00'],
      ['02:00', '10-25T01:00'],
      ['03:00', '10-25T02:00'],
      ['04:00', '10-25T03:00'],
    ]);
    expect(shown(Date.UTC(2026, 2, 28, 23, 30))).toEqual([
      ['01:00', '03-29T00:00'],
      ['03:00', '03-29T01:00'],
      ['04:00', '03-29T02:00'],
      ['05:00', '03-29T03:00'],
    ]);
  });

  it('are there where the range is shorter than the hour', () => {
    const set = Date.UTC(2026, 9, 25, 1);
    expect(ticks(set - 300, set + 300).map((at) => at - set)).toEqual([
      ...[-300, -200, -100, 0, 100, 200, 300],
    ]);
  });
});
