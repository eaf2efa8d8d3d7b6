/** Differences in tables: two decimals, without a sign where all digits are zero. */

/** Two decimals: `-1.25`, `0.00`. */
export function twoDecimals(value: number): string {
  const text = value.toFixed(2);
  return Number(text) === 0 ? '0.00' : text;
}

/** A change in percent: `+1.25 %`, `−0.50 %`, `0.00 %`. */
export function signedPercent(percent: number): string {
  const digits = twoDecimals(Math.abs(percent));
  const sign = percent < 0 ? '−' : '+';
  return `${digits === '0.00' ? '' : sign}${digits} %`;
}
