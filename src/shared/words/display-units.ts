/**
 * The units in which texts show bytes, rates and moments: a choice of the user, which every program
 * provides once. Records, exports and values of specs never depend on it.
 */

export interface DisplayUnits {
  /** Prefixes of bytes: kB of 1000, or KiB of 1024. */
  readonly bytes: 'binary' | 'decimal';
  /** Whether links carry bits or bytes per second. */
  readonly rates: 'bits' | 'bytes';
  /** The clock that moments are read from. */
  readonly clock: 'local' | 'utc';
}

export const DEFAULT_UNITS: DisplayUnits = {
  bytes: 'decimal',
  rates: 'bits',
  clock: 'local',
};

let provide = (): DisplayUnits => DEFAULT_UNITS;

/** @param of is asked for each text, so that a page may answer from its state */
export function provideUnits(of: () => DisplayUnits): void {
  provide = of;
}

export const displayUnits = (): DisplayUnits => provide();

const MINUTE = 60_000;

/** Milliseconds by which the shown clock is ahead of UTC at a moment. */
export const clockOffset = (at: number): number =>
  displayUnits().clock === 'utc' ? 0 : -new Date(at).getTimezoneOffset() * MINUTE;

const formats = new WeakMap<
  Intl.DateTimeFormatOptions,
  Record<DisplayUnits['clock'], Intl.DateTimeFormat>
>();

/**
 * A moment on the shown clock.
 * @param style one object for all moments that look alike
 */
export function clockText(at: number, style: Intl.DateTimeFormatOptions): string {
  let pair = formats.get(style);
  if (pair === undefined) {
    const utc = new Intl.DateTimeFormat('en-GB', { ...style, timeZone: 'UTC' });
    pair = { local: new Intl.DateTimeFormat('en-GB', style), utc };
    formats.set(style, pair);
  }
  return pair[displayUnits().clock].format(at);
}
