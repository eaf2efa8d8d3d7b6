/**
 * `workload.data` as the agent needs it: absolute, because the supervisor runs in a
 * directory of its own. A relative one is taken from where the command was given, and
 * `~` is the user's home, as a shell would have it.
 */
import os from 'node:os';
import path from 'node:path';
import type { ExperimentSpec } from '../../shared/experiment-spec.ts';

export function resolveDataDirectory(
  spec: ExperimentSpec,
  base: string,
): ExperimentSpec {
  const { data } = spec.workload;
  if (data === undefined) return spec;
  const expanded =
    data === '~' || data.startsWith('~/')
      ? path.join(os.homedir(), data.slice(1))
      : data;
  return {
    ...spec,
    workload: { ...spec.workload, data: path.resolve(base, expanded) },
  };
}
