/**
 * The disjoint parts of an iteration's wall time, in the order in which charts stack
 * them. What cannot be attributed is `other`: shown, never hidden.
 */
export const PHASES = [
  'data',
  'compute',
  'compress',
  'send',
  'receive',
  'wait',
  'reduce',
  'decompress',
  'apply',
  'other',
] as const;

export type Phase = (typeof PHASES)[number];

/** Milliseconds per phase. They add up to the iteration's wall time. */
export type PhaseTimes = Readonly<Record<Phase, number>>;

/** Phases that exist only because there is more than one rank. */
export const COMMUNICATION_PHASES: readonly Phase[] = [
  'compress',
  'send',
  'receive',
  'wait',
  'reduce',
  'decompress',
];

export function zeroPhases(): Record<Phase, number> {
  return Object.fromEntries(PHASES.map((phase) => [phase, 0])) as Record<Phase, number>;
}

export function sumPhases(times: PhaseTimes): number {
  return PHASES.reduce((sum, phase) => sum + times[phase], 0);
}
