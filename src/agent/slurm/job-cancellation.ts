/**
 * Cancels a job, and makes sure that it is gone: the controller may be busy for minutes, and
 * then scancel fails or hangs. A shell does it, which outlives the supervisor. What it cannot
 * cancel it says in the supervisor's log; such a job still ends soon after it begins, because
 * its sign of life is gone (`holder-script.ts`).
 */
import { spawn } from 'node:child_process';
import { shellQuoted } from '../../shared/words/shell-word.ts';
import { slurmEnvironment } from './slurm-command.ts';
import { onCluster, type JobMark } from './slurm-job.ts';

/** Seconds before each attempt: three minutes in all. */
const PAUSES = [0, 1, 2, 4, 8, 15, 30, 60, 60];
/**
 * Looks that must find nothing before a job without a number is taken for one that was never
 * submitted: a busy controller may take it a while after sbatch was killed. About a minute.
 */
const LOOKS_WITHOUT_NUMBER = 7;

/** @param file says that the job is left, if one does; removed when it is gone */
export function cancelJob(mark: JobMark, file?: string): void {
  const child = spawn('sh', ['-c', cancellationScript(mark, file)], {
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: slurmEnvironment(),
  });
  child.on('error', (error) => {
    process.stderr.write(`cannot cancel ${nameOf(mark)}: ${error.message}\n`);
  });
  child.unref();
}

/** Script for a shell that cancels by number and name together, so that no other job is meant. */
export function cancellationScript(mark: JobMark, file?: string): string {
  const { name, token, id = '', clusters = '' } = mark;
  const named = shellQuoted(`--name=${name}`);
  const forgotten = file === undefined ? ':' : `rm -f ${shellQuoted(file)}`;
  const byHand = ['scancel', ...onCluster(mark), `--name=${shellQuoted(name)}`, id];
  const told = `error: ${nameOf(mark)} could not be cancelled and may still wait for nodes or hold some; on the login node: ${byHand.join(' ').trim()}`;
  // squeue says which cluster it lists only with a header. Of several clusters scancel asks
  // no further than the first that does not know the number.
  return `limit=
command -v timeout >/dev/null 2>&1 && limit='timeout -k 5 60'
cancel() {
  $limit scancel --quiet \${2:+"--clusters=$2"} ${named} "$1" >/dev/null 2>&1
}
list() {
  $limit squeue ${[...onCluster(mark).map(shellQuoted), named].join(' ')} \\
--all --states=pending,running,suspended,configuring --format='%A|%j|%k' 2>/dev/null
}
ours() {
  cluster=$clusters
  while IFS= read -r line; do
    case $line in
      'CLUSTER: '*) cluster=\${line#CLUSTER: } ;;
      [0-9]*'|'*${shellQuoted(token)}*) printf '%s %s\\n' "\${line%%|*}" "$cluster" ;;
    esac
  done
}
number=${shellQuoted(id)}
clusters=${shellQuoted(clusters)}
looks=${id === '' ? LOOKS_WITHOUT_NUMBER : 1}
for pause in ${PAUSES.join(' ')}; do
  sleep "$pause"
  [ -z "$number" ] || cancel "$number" "$clusters"
  listed=$(list) || continue
  found=$(printf '%s\\n' "$listed" | ours)
  if [ -z "$found" ]; then
    looks=$((looks - 1))
    [ "$looks" -gt 0 ] || { ${forgotten}; exit 0; }
  else
    looks=1
    printf '%s\\n' "$found" | while read -r one cluster; do cancel "$one" "$cluster"; done
  fi
done
printf '%s\\n' ${shellQuoted(told)} >&2
exit 1
`;
}

const nameOf = ({ id, name }: JobMark): string =>
  id === undefined ? `Slurm job "${name}"` : `Slurm job ${id} ("${name}")`;
