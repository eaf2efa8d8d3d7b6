/** The runs of a figure, as specs that the public parser has accepted. */
import {
  parseExperimentSpec,
  type ParsedSpec,
} from '../shared/spec/experiment-spec.ts';
import { SYNTHETIC } from '../shared/spec/parallelism/kind.ts';
import type { Case, Figure } from './figure.ts';

export interface PlannedRun {
  readonly case: Case;
  readonly seed: number;
  readonly spec: ParsedSpec;
}

/**
 * A figure is lost with one of its runs, and what a rank computes does not depend on when it is
 * given a core: it may be silent longer than in a run that somebody watches.
 */
const SILENCE_SECONDS = 60;
/** The model that takes as long either way (docs/decisions/050-reproductions.md). */
const SMALLEST = 'fnn3';

/**
 * Goes through all cases seed by seed, so that a temporary slowdown of the machine
 * affects every case of a seed alike.
 * @param python has PyTorch, which computes the runs that gain by it; default: none
 * @throws GradwireError `SPEC_INVALID`
 */
export function plannedRuns(figure: Figure, python?: string): readonly PlannedRun[] {
  const byTorch =
    python === undefined || figure.timed ? {} : { backend: 'torch', python };
  return figure.seeds.flatMap((seed) =>
    figure.cases.map((one) => {
      const name = `reproduce ${figure.id}: ${one.label}, seed ${seed}`;
      const given = {
        timeoutSeconds: SILENCE_SECONDS,
        ...(gainsByTorch(one) ? byTorch : {}),
        ...one.spec,
        name,
        seed,
      };
      return { case: one, seed, spec: parseExperimentSpec(given, name) };
    }),
  );
}

/** Whether PyTorch can compute a run, and in less time. */
function gainsByTorch({ spec }: Case): boolean {
  const { backend, workload } = spec as {
    readonly backend?: string;
    readonly workload: { readonly model: string };
  };
  return backend === undefined && ![SYNTHETIC, SMALLEST].includes(workload.model);
}
