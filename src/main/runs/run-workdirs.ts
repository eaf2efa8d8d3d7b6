/** Copies of a program's working directory on the machines of a run. */
import { failure } from '../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { isHere } from '../cluster/listen-address.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import { copyWorkdir } from '../deploy/workdir-copy.ts';
import { workdirFiles } from '../deploy/workdir-files.ts';

/**
 * Copies it to every machine but this one, unless the spec says that it is there.
 * @returns the tree of each machine that has a copy
 * @throws GradwireError those of `workdirFiles` and `copyWorkdir`
 */
export async function copiedTrees(
  { workload }: ExperimentSpec,
  links: readonly NodeLink[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<NodeLink, string>> {
  const { command, copy = true, workdir } = workload;
  const away = links.filter((link) => !isHere(link));
  if (command === undefined || workdir === undefined || !copy || away.length === 0) {
    return new Map();
  }
  const entries = await workdirFiles(workdir, signal);
  const trees = away.map(async (link) => {
    const cancelled = new AbortController();
    const signals = [cancelled.signal, ...(signal === undefined ? [] : [signal])];
    try {
      const tree = await copyWorkdir(link, workdir, entries, {
        signal: AbortSignal.any(signals),
        progress: (progress) => {
          link.copying(progress, () => {
            cancelled.abort(cancelledCopy(link.name));
          });
        },
      });
      return [link, tree] as const;
    } finally {
      link.copying(undefined, () => undefined);
    }
  });
  return new Map(await Promise.all(trees));
}

const cancelledCopy = (place: string): Error =>
  failure('ABORTED', 'copying the working directory was cancelled', {
    place,
    next: 'Launch again: what has arrived there is not sent again.',
  });
