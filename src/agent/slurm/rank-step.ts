/**
 * The command that starts a rank on a compute node: a step of the job, with orders on srun's
 * stdin and reports on its stdout, which carries nothing else: the output of setup lines goes to
 * stderr, and the rank's own standard output travels as reports (`carried-stdout.ts`).
 */
import { failure, type ErrorData } from '../../shared/errors/errors.ts';
import type { ProcessExit } from '../world/rank-process.ts';
import { shellQuoted } from '../../shared/words/shell-word.ts';
import { strayVariables } from './slurm-command.ts';
import { onCluster, type SlurmJob } from './slurm-job.ts';

export interface RankStep {
  readonly job: SlurmJob;
  readonly node: string;
  /** Lines of shell before it. */
  readonly setup: readonly string[];
  /** The script for Node. */
  readonly entry: string;
}

/** Text before the name of a file that a compute node does not have. */
const NO_FILE = 'gradwire: a compute node has no file';

/** The prefix of the Node command; `$1` is Node. */
export function rankStep({ job, node, setup, entry }: RankStep): readonly string[] {
  const findNode =
    '[ -x "$1" ] || { node=$(command -v node) && shift && set -- "$node" "$@"; }';
  const check =
    `for file in "$1" ${shellQuoted(entry)}; do [ -r "$file" ] || ` +
    `{ echo "${NO_FILE} $file" >&2; exit 1; }; done`;
  // Orders are moved to descriptor 4 while the lines run, which might otherwise read
  // them.
  const script = [...setup, findNode, check, 'exec "$@" <&4 4<&-'].join('\n');
  // `module` and similar commands exist only in a login shell.
  const shell = setup.length === 0 ? 'sh -c' : 'bash -l -c';
  return [
    ...['env', ...strayVariables().flatMap((name) => ['-u', name])],
    ...[
      'srun',
      ...onCluster(job),
      `--jobid=${job.id}`,
      '--overlap',
      '--nodes=1',
      '--ntasks=1',
    ],
    ...[`--nodelist=${node}`, '--mem=0', '--cpu-bind=none', '--mpi=none'],
    ...['--export=ALL', '--quiet'],
    ...['sh', '-c', `exec 3>&1 1>&2 4<&0 </dev/null; exec ${shell} "$@"`, 'gradwire'],
    ...[script, 'gradwire'],
  ];
}

/** Explains a step that ended because its node lacks something. */
export function explainStep(
  { stderr }: Pick<ProcessExit, 'stderr'>,
  { rank, node }: { readonly rank: number; readonly node: string },
): ErrorData | undefined {
  const at = stderr.indexOf(NO_FILE);
  if (at < 0) return undefined;
  const file = stderr
    .slice(at + NO_FILE.length)
    .split('\n')[0]!
    .trim();
  return failure('AGENT_NOT_SHARED', `compute node ${node} has no ${file}`, {
    place: node,
    rank,
    next:
      'The login node’s home directory must also be on the compute nodes, under the same ' +
      'path. If only Node is missing there, load it with a --setup line.',
  }).toData();
}
