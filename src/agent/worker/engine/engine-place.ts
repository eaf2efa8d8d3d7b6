/**
 * Where a rank's engine runs. What the spec says holds. An exchange that continues while the
 * trainer computes needs its own thread. Else an engine whose trainer
 * computes on a GPU is beside it, so that gradients stay on the device, and any other has
 * its own thread if the node has the cores; so has one that exchanges what local steps
 * moved, which is on the host. Where the backend is `auto` and there may be a GPU, only the
 * trainer knows.
 */
import type { ExperimentSpec } from '../../../shared/experiment-spec.ts';
import { asynchronousOf, localStepsOf } from '../../../shared/parallelism.ts';

export type EnginePlace = 'thread' | 'inline';

export interface PlaceQuestion {
  readonly spec: Pick<
    ExperimentSpec,
    'engine' | 'backend' | 'overlap' | 'doubleBuffer' | 'parallelism'
  >;
  /** What the node's cores suggest. */
  readonly byCores: EnginePlace;
  readonly mayHaveGpu: () => boolean;
}

/** Undefined where it depends on the trainer: ask `besideGpu` when that is there. */
export function enginePlace(question: PlaceQuestion): EnginePlace | undefined {
  const { byCores, mayHaveGpu, spec } = question;
  if (spec.engine !== 'auto') return spec.engine;
  if (spec.overlap === true || spec.doubleBuffer === true) return 'thread';
  if (asynchronousOf(spec) !== undefined) return 'thread';
  if (localStepsOf(spec) !== undefined) return byCores;
  if (spec.backend === 'webgpu') return 'inline';
  const known = spec.backend === 'wasm' || byCores === 'inline' || !mayHaveGpu();
  return known ? byCores : undefined;
}

export function besideGpu(
  trainer: { readonly backend: 'wasm' | 'webgpu' },
  byCores: EnginePlace,
): EnginePlace {
  return trainer.backend === 'webgpu' ? 'inline' : byCores;
}
