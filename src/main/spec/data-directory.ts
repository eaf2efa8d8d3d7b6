/**
 * `workload.data` as the agent needs it: absolute, because the supervisor runs in its
 * own directory. A relative path starts from the command's directory.
 */
import path from 'node:path';
import type { ExperimentSpec } from '../../shared/experiment-spec.ts';
import { expandHome } from './expand-home.ts';

export function resolveDataDirectory(
  spec: ExperimentSpec,
  base: string,
): ExperimentSpec {
  const { data } = spec.workload;
  if (data === undefined) return spec;
  return {
    ...spec,
    workload: { ...spec.workload, data: path.resolve(base, expandHome(data)) },
  };
}
