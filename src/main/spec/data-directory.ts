/**
 * `workload.data`, `workload.workdir` and `python` as the agent needs them: absolute, because the
 * supervisor runs in its own directory. A relative path starts from the command's directory.
 */
import path from 'node:path';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { expandHome } from './expand-home.ts';

export function resolveDataDirectory(
  spec: ExperimentSpec,
  base: string,
): ExperimentSpec {
  const { command, data, workdir = command && '.' } = spec.workload;
  const { python } = spec;
  const absolute = (given: string): string => path.resolve(base, expandHome(given));
  return {
    ...spec,
    // A name is looked up where the rank runs.
    ...(python?.includes('/') === true ? { python: absolute(python) } : {}),
    workload: {
      ...spec.workload,
      ...(data === undefined ? {} : { data: absolute(data) }),
      ...(workdir === undefined ? {} : { workdir: absolute(workdir) }),
    },
  };
}
