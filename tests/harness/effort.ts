/**
 * How much is drawn and repeated. `npm test` takes samples; `npm run test:soak` runs the
 * files that import this once more, in full (vitest.soak.config.ts).
 */
export const soaking = process.env['GRADWIRE_SOAK'] !== undefined;

export function effort<T>({ quick, soak }: { quick: T; soak: T }): T {
  return soaking ? soak : quick;
}

/** Runs of a property. */
export const runs = (quick: number): number => effort({ quick, soak: 50 * quick });

/** Where random numbers begin: as the soak was told, else the same every time. */
export const seed = Number(process.env['GRADWIRE_SOAK_SEED'] ?? 77);
