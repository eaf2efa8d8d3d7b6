/** Creates the steps for a spec's form of parallelism. */
import type { Notice } from '../../../shared/records/notice.ts';
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import { asynchronousOf } from '../../../shared/spec/parallelism/asynchronous.ts';
import { localStepsOf } from '../../../shared/spec/parallelism/local-steps.ts';
import type { ParallelismId } from '../../../shared/spec/parallelism/parallelism.ts';
import type { Arena } from '../../memory/arena.ts';
import type { GpuGradient } from '../../sites/gpu-gradient.ts';
import type { TrainerThread } from '../trainers/trainer-thread.ts';
import { AsynchronousSteps } from './asynchronous-steps.ts';
import { LocalSteps } from './local-steps.ts';
import { ProgramSteps, type ProgramStepsOptions } from './program-steps.ts';
import type { Steps, StepsOptions } from './steps.ts';
import { SynchronousSteps } from './synchronous-steps.ts';
import { VarianceReducedSteps } from './variance-reduced-steps.ts';

/** The possible memories of a rank's gradients. */
export interface GradientPlaces {
  readonly arena: Arena;
  /** Gradient on the GPU that computes it, if there is one and gradients are not read back. */
  readonly onDevice: GpuGradient | undefined;
  /** The engine's input vector; undefined if that is on the GPU. */
  readonly onHost: Float32Array | undefined;
  /** The program that takes the steps; default: the trainer does. */
  readonly program?:
    Pick<ProgramStepsOptions, 'program' | 'programTrainer'> | undefined;
  /** Threads beside this one that compute gradients; default: none. */
  readonly threads?: readonly TrainerThread[] | undefined;
}

/** Told where a GPU computes gradients that are not exchanged there. */
export const READ_BACK: Notice = {
  level: 'info',
  code: 'GRADIENTS_READ_BACK',
  message:
    'gradients are read back from the GPU and compressed on the CPU; this is so if the engine runs ' +
    'in its own thread, if optimizer.fullGradientEvery is set, or if the model is split',
};

type Shared = Pick<ExperimentSpec, 'optimizer' | 'parallelism'>;

type Opened = (options: StepsOptions) => Steps;

/** Opens the steps of each kind of parallelism. */
const OPENED: {
  readonly [K in ParallelismId]: (spec: Shared, places: GradientPlaces) => Opened;
} = {
  synchronous: ({ optimizer }, { arena, onHost, onDevice }) => {
    const { fullGradientEvery: every } = optimizer;
    return (options) =>
      every === undefined
        ? new SynchronousSteps({ ...options, gradient: onDevice ?? onHost! })
        : new VarianceReducedSteps({ ...options, every, arena, gradient: onHost! });
  },
  'local-steps': (spec, { onHost, onDevice }) => {
    const settings = localStepsOf(spec)!;
    const vectors = { gradient: onDevice ?? onHost!, moved: onHost! };
    return (options) => new LocalSteps({ ...options, ...vectors, settings });
  },
  asynchronous: (spec, { arena, onHost, threads }) => {
    const served = asynchronousOf(spec)!;
    const places = { arena, gradient: onHost!, threads };
    return (options) => new AsynchronousSteps({ ...options, ...places, served });
  },
};

export function stepsOf(spec: Shared, places: GradientPlaces): Opened {
  const { onHost, program } = places;
  if (program !== undefined) {
    return (options) => new ProgramSteps({ ...options, ...program, gradient: onHost! });
  }
  return OPENED[spec.parallelism?.kind ?? 'synchronous'](spec, places);
}

/** Whether the exchanged vector is on the host, wherever gradients are computed. */
export const exchangesOnHost = (spec: Shared): boolean =>
  localStepsOf(spec) !== undefined || needsHost(spec);

/**
 * Whether gradients may stay on the GPU that computes them: if the engine shares its thread,
 * or if they are not exchanged.
 */
export const gradientsOnDevice = (spec: Shared, engineIsInline: boolean): boolean =>
  !needsHost(spec) && (engineIsInline || localStepsOf(spec) !== undefined);

/** Whether gradients are needed on the host, to be corrected or pushed to servers. */
const needsHost = (spec: Shared): boolean =>
  spec.optimizer.fullGradientEvery !== undefined || asynchronousOf(spec) !== undefined;
