/** From what a spec says of parallelism to its steps. */
import type { ExperimentSpec } from '../../../shared/experiment-spec.ts';
import { localStepsOf } from '../../../shared/parallelism.ts';
import type { GpuGradient } from '../../sites/gpu-gradient.ts';
import { LocalSteps } from './local-steps.ts';
import type { Steps, StepsOptions } from './steps.ts';
import { SynchronousSteps } from './synchronous-steps.ts';

/** The memories in which a rank's gradients can be. */
export interface GradientPlaces {
  /** On the GPU that computes them, if there is one and it is not read back. */
  readonly onDevice: GpuGradient | undefined;
  /** Where the engine expects what is exchanged; undefined where that is on the GPU. */
  readonly inArena: Float32Array | undefined;
}

export function stepsOf(
  spec: Pick<ExperimentSpec, 'parallelism'>,
  { inArena, onDevice }: GradientPlaces,
): (options: StepsOptions) => Steps {
  const gradient = onDevice ?? inArena!;
  const settings = localStepsOf(spec);
  return (options) =>
    settings === undefined
      ? new SynchronousSteps({ ...options, gradient })
      : new LocalSteps({ ...options, settings, gradient, moved: inArena! });
}

/** Whether what is exchanged is on the host, wherever gradients are. */
export const exchangesOnHost = (spec: Pick<ExperimentSpec, 'parallelism'>): boolean =>
  localStepsOf(spec) !== undefined;
