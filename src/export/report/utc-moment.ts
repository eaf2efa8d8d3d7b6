/** Moments in reports, which are read in other time zones: `2026-03-01 12:00 UTC`. */
export const utcMoment = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
