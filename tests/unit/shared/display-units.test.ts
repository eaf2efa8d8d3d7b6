/** Units of bytes, rates and moments, as a user chooses them. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { tickText, ticksOf } from '../../../src/renderer/charts/axis-ticks.ts';
import { experimentDefaults } from '../../../src/shared/settings/experiment-settings.ts';
import {
  checkSetting,
  DEFAULT_SETTINGS,
} from '../../../src/shared/settings/settings.ts';
import { unitsOf } from '../../../src/shared/settings/unit-settings.ts';
import { diskFilling } from '../../../src/shared/alerts/disk-filling.ts';
import {
  DEFAULT_UNITS,
  provideUnits,
} from '../../../src/shared/words/display-units.ts';
import {
  formatBitRate,
  formatBytes,
  formatDateTime,
  formatZonedTime,
} from '../../../src/shared/words/units.ts';

afterEach(() => {
  provideUnits(() => DEFAULT_UNITS);
});

const show = (changes: Partial<typeof DEFAULT_UNITS>): void => {
  provideUnits(() => ({ ...DEFAULT_UNITS, ...changes }));
};

test('bytes have the prefixes that are chosen, and never a mantissa of 1024', () => {
  const sizes = [1, 1000, 1024, 1_048_575, 1_048_576, 5e9];
  expect(sizes.map((size) => formatBytes(size))).toEqual([
    '1.00 B',
    '1.00 kB',
    '1.02 kB',
    '1.05 MB',
    '1.05 MB',
    '5.00 GB',
  ]);
  show({ bytes: 'binary' });
  expect(sizes.map((size) => formatBytes(size))).toEqual([
    '1.00 B',
    '1000 B',
    '1.00 KiB',
    '1.00 MiB',
    '1.00 MiB',
    '4.66 GiB',
  ]);
  expect(formatBytes(undefined)).toBe('–');
});

test('ticks of bytes are round in the prefix that is shown', () => {
  const range = { min: 0, max: 10e6 };
  expect(ticksOf('bytes', range)).toBeUndefined();
  show({ bytes: 'binary' });
  const ticks = ticksOf('bytes', range)!;
  expect(ticks.length).toBeLessThanOrEqual(8);
  expect(ticks.map((tick) => tickText('bytes', tick, range))).toEqual([
    '0 B',
    '2 MiB',
    '4 MiB',
    '6 MiB',
    '8 MiB',
  ]);
  expect(ticksOf('bytes', { min: 5, max: 5 })).toBeUndefined();
  // A range of a few bytes has whole ones.
  for (const tick of ticksOf('bytes', { min: 0, max: 3 })!) expect(tick % 1).toBe(0);
});

test('a recorded alert does not depend on it', () => {
  show({ bytes: 'binary' });
  const seen = { kind: 'moment', at: 0, freeBytes: 5e8 } as never;
  expect(diskFilling.observe({}, seen, { gigabytes: 1 })).toMatchObject({
    message: '500 MB free on the disk of the home',
  });
});

test('links carry bits or bytes', () => {
  expect(formatBitRate(1e9)).toBe('1.00 Gbit/s');
  show({ rates: 'bytes', bytes: 'binary' });
  expect(formatBitRate(1e9)).toBe('125 MB/s');
});

test('moments are read from one clock, which says so if it is not the own one', () => {
  const at = Date.UTC(2026, 2, 1, 12, 5, 10);
  show({ clock: 'utc' });
  expect(formatDateTime(at)).toBe('2026-03-01 12:05 UTC');
  expect(tickText('clock', at, { min: at, max: at + 5000 })).toBe('12:05:10');
});

test('a moment to the second has its zone', () => {
  const at = Date.UTC(2026, 2, 1, 2, 5, 10);
  show({ clock: 'utc' });
  expect(formatZonedTime(at)).toBe('2026-03-01 02:05:10 UTC');
  show({ clock: 'local' });
  const zone = vi.spyOn(Date.prototype, 'getTimezoneOffset');
  zone.mockReturnValue(210);
  expect(formatZonedTime(at)).toBe('2026-02-28 22:35:10 UTC−03:30');
  zone.mockReturnValue(-345);
  expect(formatZonedTime(at)).toBe('2026-03-01 07:50:10 UTC+05:45');
  zone.mockReturnValue(0);
  expect(formatZonedTime(at)).toBe('2026-03-01 02:05:10 UTC+00:00');
  zone.mockRestore();
});

describe('settings', () => {
  test('choose the units', () => {
    expect(unitsOf(DEFAULT_SETTINGS)).toEqual(DEFAULT_UNITS);
    expect(unitsOf({})).toEqual(DEFAULT_UNITS);
    const chosen = {
      'units.bytes': 'binary',
      'units.rates': 'bytes',
      'units.clock': 'utc',
    };
    expect(unitsOf(chosen)).toEqual({ bytes: 'binary', rates: 'bytes', clock: 'utc' });
  });

  test.each([
    ['new.ranks', ['1', '1024', ''], ['0', '1025', '2.5', '-1', 'two']],
    ['new.seed', ['0', '4294967295', ''], ['4294967296', '-1', '1e3']],
    ['new.preset', ['digits-topk', ''], ['../x', 'A b']],
  ])('%s takes what a spec takes', (key, good, bad) => {
    for (const value of good) expect(checkSetting(key, value)).toBe(value);
    for (const value of bad)
      expect(() => checkSetting(key, value)).toThrow(/must be|have/);
  });

  test('a new experiment begins with the quickstart where nothing is chosen', () => {
    const none = { preset: 'quickstart', ranks: undefined, seed: undefined };
    expect(experimentDefaults(undefined)).toEqual(none);
    expect(experimentDefaults(DEFAULT_SETTINGS)).toEqual(none);
    expect(
      experimentDefaults({ 'new.preset': '', 'new.ranks': '2', 'new.seed': '0' }),
    ).toEqual({
      preset: 'quickstart',
      ranks: 2,
      seed: 0,
    });
  });
});
