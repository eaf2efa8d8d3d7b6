/**
 * Phases in place of `compute`, of which a program of one's own has the passes alone. Pipeline
 * stages also send activations and their gradients to each other; the bubble is waiting for
 * another stage to compute them.
 */
export const PIPELINE_PHASES = [
  'forward',
  'backward',
  'activations',
  'bubble',
] as const;

/**
 * The disjoint parts of an iteration's wall time, in the order in which charts stack
 * them. What cannot be attributed is `other`: shown, never hidden.
 */
export const PHASES = [
  'data',
  'compute',
  ...PIPELINE_PHASES,
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

export type PipelinePhase = (typeof PIPELINE_PHASES)[number];

/**
 * Milliseconds per phase. They add up to the iteration's wall time. The phases of a pipeline
 * are present only in pipelines.
 */
export type PhaseTimes = Readonly<
  Record<Exclude<Phase, PipelinePhase>, number> &
    Partial<Record<PipelinePhase, number | undefined>>
>;

/** Phases that compute the model. */
export const COMPUTE_PHASES: readonly Phase[] = ['compute', 'forward', 'backward'];

/** Phases of a step that need no other rank: data, gradient and update. */
export const OWN_PHASES: readonly Phase[] = ['data', ...COMPUTE_PHASES, 'apply'];

/**
 * Phases that exist only because there is more than one rank, except the bubble of a pipeline,
 * which smaller messages would not shorten.
 */
export const COMMUNICATION_PHASES: readonly Phase[] = [
  'activations',
  'compress',
  'send',
  'receive',
  'wait',
  'reduce',
  'decompress',
];

/** Division of computing: as a whole, into a program's passes, or into a pipeline stage's. */
export type StepKind = 'whole' | 'passes' | 'stage';

/** The phases of an iteration. */
export function phasesOf(kind: StepKind): readonly Phase[] {
  if (kind === 'whole') return PHASES.filter((phase) => !pipelinePhases.has(phase));
  const absent: readonly Phase[] =
    kind === 'stage' ? ['compute'] : ['compute', 'activations', 'bubble'];
  return PHASES.filter((phase) => !absent.includes(phase));
}

const pipelinePhases: ReadonlySet<Phase> = new Set(PIPELINE_PHASES);

const zerosOf = <P extends Phase>(phases: readonly P[]): Record<P, number> =>
  Object.fromEntries(phases.map((phase) => [phase, 0])) as Record<P, number>;

// Copied in every exchange, because building them takes ten times as long.
const ZERO_PHASES: Readonly<Record<Phase, number>> = zerosOf(PHASES);
const ZERO_TIMES: Readonly<Record<Exclude<Phase, PipelinePhase>, number>> = zerosOf(
  phasesOf('whole') as readonly Exclude<Phase, PipelinePhase>[],
);

/** Returns zeros for all phases but those of a pipeline. */
export const zeroTimes = (): Record<Exclude<Phase, PipelinePhase>, number> => ({
  ...ZERO_TIMES,
});

export const zeroPhases = (): Record<Phase, number> => ({ ...ZERO_PHASES });

export function sumPhases(times: PhaseTimes): number {
  return PHASES.reduce((sum, phase) => sum + (times[phase] ?? 0), 0);
}
