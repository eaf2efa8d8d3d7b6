/** The runs of a figure, as specs that the public parser has accepted. */
import {
  parseExperimentSpec,
  type ParsedSpec,
} from '../shared/spec/experiment-spec.ts';
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

/**
 * Goes through all cases seed by seed, so that a temporary slowdown of the machine
 * affects every case of a seed alike.
 * @throws GradwireError `SPEC_INVALID`
 */
export function plannedRuns(figure: Figure): readonly PlannedRun[] {
  return figure.seeds.flatMap((seed) =>
    figure.cases.map((one) => {
      const name = `reproduce ${figure.id}: ${one.label}, seed ${seed}`;
      return {
        case: one,
        seed,
        spec: parseExperimentSpec(
          { timeoutSeconds: SILENCE_SECONDS, ...one.spec, name, seed },
          name,
        ),
      };
    }),
  );
}
