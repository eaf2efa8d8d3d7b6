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
        spec: parseExperimentSpec({ ...one.spec, name, seed }, name),
      };
    }),
  );
}
