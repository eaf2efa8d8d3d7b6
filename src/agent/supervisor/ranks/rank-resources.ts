/** Decides how each rank uses a machine's cores. */
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import type { RankPlacement } from '../../world/rank-placement.ts';

export interface RankResources {
  /** Threads that autodiff may use. */
  readonly threads: number;
  /** Whether the engine gets its own thread. */
  readonly engine: 'thread' | 'inline';
}

/** @param coresPerRank less than 1 if ranks share one */
export function rankResources(
  { engine }: Pick<ExperimentSpec, 'engine'>,
  coresPerRank: number,
): RankResources {
  return {
    threads: Math.max(1, Math.floor(coresPerRank)),
    engine: engine === 'auto' ? byCores(coresPerRank) : engine,
  };
}

/**
 * Chooses the engine's place: its own thread pays if trainer and engine can run at the same time.
 */
const byCores = (coresPerRank: number): 'thread' | 'inline' =>
  coresPerRank >= 2 ? 'thread' : 'inline';

interface Surroundings {
  readonly placement: Pick<RankPlacement, 'places'> | undefined;
  /** The copied directory of their programs; default: the spec's. */
  readonly workdir?: string | undefined;
}

/** The spec for its ranks: between machines they encrypt by default. */
export function specOn(
  { placement, workdir }: Surroundings,
  spec: ExperimentSpec,
): ExperimentSpec {
  const { workload } = spec;
  const placed =
    workdir === undefined ? spec : { ...spec, workload: { ...workload, workdir } };
  if (placement === undefined) return placed;
  const encrypt = spec.encrypt ?? placement.places.some((place) => place > 0);
  return { ...placed, encrypt };
}
