/** Copies of a program's working directory on the machines of its run. */
import { failure, GradwireError } from '../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { isHere } from '../cluster/listen-address.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import { copyWorkdir } from '../deploy/workdir-copy.ts';
import { workdirFiles } from '../deploy/workdir-files.ts';

/** Time for Slurm to test a job, and to refuse or take it: the supervisor gives up earlier. */
const TEST_JOB_MS = 180_000;

/**
 * Copies a program's working directory to every machine but this one, unless the spec says
 * that it is there, or Slurm would not take the run's job.
 * @param links to its machines, of which one at least is another
 * @returns the tree of each machine that has a copy
 * @throws GradwireError `SLURM_REFUSED`, `SLURM_MISSING`, and those of `workdirFiles` and `copyWorkdir`
 */
export async function copiedTrees(
  run: string,
  { workload, world }: ExperimentSpec,
  links: readonly NodeLink[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<NodeLink, string>> {
  const { command, copy = true, workdir } = workload;
  if (command === undefined || workdir === undefined || !copy) return new Map();
  const away = links.filter((link) => !isHere(link));
  const entries = await workdirFiles(workdir, signal);
  await Promise.all(away.map((link) => requireJob(link, run, world.ranks)));
  const trees = away.map(async (link) => {
    const cancelled = new AbortController();
    const signals = [cancelled.signal, ...(signal === undefined ? [] : [signal])];
    const progress = link.showCopy(() => {
      cancelled.abort(cancelledCopy(link.name));
    });
    try {
      const tree = await copyWorkdir(link, workdir, entries, {
        signal: AbortSignal.any(signals),
        progress,
      });
      return [link, tree] as const;
    } catch (error) {
      throw error instanceof GradwireError && error.code === 'DISK_FULL'
        ? new GradwireError({ ...error.toData(), place: link.name }, { cause: error })
        : error;
    } finally {
      progress(undefined);
    }
  });
  return new Map(await Promise.all(trees));
}

/** @throws GradwireError `SLURM_REFUSED`, `SLURM_MISSING` */
async function requireJob(link: NodeLink, run: string, ranks: number): Promise<void> {
  const { name: node, slurm } = link;
  if (slurm === undefined) return;
  await link.request('testJob', { run, ranks, slurm, node }, TEST_JOB_MS);
}

const cancelledCopy = (place: string): Error =>
  failure('ABORTED', 'copying the working directory was cancelled', {
    place,
    next: 'Launch again: what has arrived there is not sent again.',
  });
