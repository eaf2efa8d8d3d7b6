/**
 * Chooses the thread on which a rank's engine runs. The spec's choice comes first. An exchange that
 * continues while the trainer computes needs its own thread. Otherwise the engine of a rank that is
 * alone shares the trainer's thread, since nobody waits for it meanwhile, and so does one whose trainer
 * computes on a GPU, so that gradients stay on the device. Any other engine has its own thread if the node has the cores, and so has one that exchanges the moves of local steps,
 * which are on the host. If the backend is `auto` and there may be a GPU, only the trainer knows.
 */
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import { asynchronousOf } from '../../../shared/spec/parallelism/asynchronous.ts';
import { localStepsOf } from '../../../shared/spec/parallelism/local-steps.ts';

export type EnginePlace = 'thread' | 'inline';

export interface PlaceQuestion {
  readonly spec: Pick<
    ExperimentSpec,
    'engine' | 'backend' | 'overlap' | 'doubleBuffer' | 'parallelism'
  > & { readonly world: Pick<ExperimentSpec['world'], 'ranks'> };
  /** The choice that suits the node's cores. */
  readonly byCores: EnginePlace;
  readonly mayHaveGpu: () => boolean;
}

/** Chooses the thread; undefined if it depends on the trainer: ask `besideGpu` once that exists. */
export function enginePlace(question: PlaceQuestion): EnginePlace | undefined {
  const { byCores, mayHaveGpu, spec } = question;
  if (spec.engine !== 'auto') return spec.engine;
  if (spec.overlap === true || spec.doubleBuffer === true) return 'thread';
  if (asynchronousOf(spec) !== undefined) return 'thread';
  if (spec.world.ranks === 1) return 'inline';
  if (localStepsOf(spec) !== undefined) return byCores;
  if (spec.backend === 'webgpu') return 'inline';
  const onHost = spec.backend === 'wasm' || spec.backend === 'torch';
  const known = onHost || byCores === 'inline' || !mayHaveGpu();
  return known ? byCores : undefined;
}

export function besideGpu(
  trainer: { readonly backend: string },
  byCores: EnginePlace,
): EnginePlace {
  return trainer.backend === 'webgpu' ? 'inline' : byCores;
}
