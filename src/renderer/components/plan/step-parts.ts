/** The parts of a predicted step, as bars and tables show them; they add up to it. */
import type { StepForecast } from '../../../shared/forecast/candidate.ts';

interface StepPart {
  readonly id: string;
  readonly title: string;
  readonly meaning: string;
  /** A colour of the style sheet. */
  readonly colour: string;
  /** Seconds. */
  readonly of: (
    step: Pick<StepForecast, 'compress' | 'compute' | 'decompress' | 'terms'>,
  ) => number;
}

export const stepParts: readonly StepPart[] = [
  {
    id: 'compute',
    title: 'compute',
    meaning: 'Data, gradient and update',
    colour: 'var(--phase-compute)',
    of: ({ compute }) => compute,
  },
  {
    id: 'compress',
    title: 'compress',
    meaning: 'Timed on this computer with noise of the model’s size',
    colour: 'var(--phase-compress)',
    of: ({ compress }) => compress,
  },
  {
    id: 'bandwidth',
    title: 'bandwidth',
    meaning: 'Bytes sent, times the seconds of a byte (β)',
    colour: 'var(--phase-send)',
    of: ({ terms }) => terms.bandwidth,
  },
  {
    id: 'latency',
    title: 'latency',
    meaning: 'Messages one after another, times the seconds of a message (α)',
    colour: 'var(--phase-wait)',
    of: ({ terms }) => terms.latency,
  },
  {
    id: 'reduction',
    title: 'reduction',
    meaning: 'Elements added or merged, times the seconds of one (γ)',
    colour: 'var(--phase-reduce)',
    of: ({ terms }) => terms.reduction,
  },
  {
    id: 'decompress',
    title: 'decompress',
    meaning: 'Timed on this computer',
    colour: 'var(--phase-decompress)',
    of: ({ decompress }) => decompress,
  },
];
