/** A sweep before anything of it runs: its points, each checked as a launch would check it. */
import type { Catalogue } from '../../shared/catalogue/catalogue.ts';
import type { ExperimentSpec, ParsedSpec } from '../../shared/spec/experiment-spec.ts';
import type { SweepDefinition } from '../../shared/sweep/sweep-definition.ts';
import {
  placedAt,
  pointText,
  sweepPoints,
  type ExpandedSweep,
} from '../../shared/sweep/sweep-points.ts';
import { withOwnFiles } from '../spec/spec-source.ts';

/** The part of a coordinator that checks specs. */
export interface SpecChecker {
  readonly machines: { catalogue(): Promise<Pick<Catalogue, 'methods'>> };
  readonly launches: { validate(spec: ParsedSpec): Promise<ExperimentSpec> };
}

/**
 * @param directory the directory that relative paths start from
 * @returns the points with their files read, so that all runs of a point have the same
 * @throws GradwireError the first problem, with the point and its values in the place
 */
export async function checkedSweep(
  { launches, machines }: SpecChecker,
  definition: SweepDefinition,
  directory: string,
): Promise<ExpandedSweep> {
  const { methods } = await machines.catalogue();
  const sweep = sweepPoints(definition, methods);
  const points = [];
  for (const point of sweep.points) {
    try {
      const spec = await withOwnFiles(point.spec, directory);
      await launches.validate(spec);
      points.push({ ...point, spec });
    } catch (thrown) {
      const values = Object.entries(point.values);
      throw placedAt(thrown, pointText(point.number, values));
    }
  }
  return { ...sweep, points };
}
