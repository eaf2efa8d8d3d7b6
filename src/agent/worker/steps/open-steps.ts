/** Creates the steps for a spec's form of parallelism. */
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import { asynchronousOf, localStepsOf } from '../../../shared/spec/parallelism.ts';
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
  readonly inArena: Float32Array | undefined;
  /** The program that takes the steps; default: the trainer does. */
  readonly program?:
    Pick<ProgramStepsOptions, 'program' | 'programTrainer'> | undefined;
  /** Threads beside this one that compute gradients; default: none. */
  readonly threads?: readonly TrainerThread[] | undefined;
}

type Shared = Pick<ExperimentSpec, 'optimizer' | 'parallelism'>;

export function stepsOf(
  spec: Shared,
  { arena, inArena, onDevice, program, threads }: GradientPlaces,
): (options: StepsOptions) => Steps {
  const gradient = onDevice ?? inArena!;
  const settings = localStepsOf(spec);
  const served = asynchronousOf(spec);
  const { fullGradientEvery: every } = spec.optimizer;
  return (options) => {
    if (program !== undefined) {
      return new ProgramSteps({ ...options, ...program, gradient: inArena! });
    }
    if (served !== undefined) {
      const places = { arena, gradient: inArena!, threads };
      return new AsynchronousSteps({ ...options, ...places, served });
    }
    if (settings !== undefined) {
      return new LocalSteps({ ...options, settings, gradient, moved: inArena! });
    }
    return every === undefined
      ? new SynchronousSteps({ ...options, gradient })
      : new VarianceReducedSteps({ ...options, every, arena, gradient: inArena! });
  };
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
