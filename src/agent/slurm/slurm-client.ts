/**
 * Slurm's commands on a login node: sbatch, squeue, scontrol, scancel. Output is
 * requested in formats that all versions of the last ten years support.
 */
import { GrowingPause } from '../../shared/async/growing-pause.ts';
import { failure, GradwireError, inputError } from '../../shared/errors/errors.ts';
import { callSlurm, wordsOf } from './slurm-command.ts';
import { onCluster, type JobMark, type SlurmJob } from './slurm-job.ts';

/** A controller with thousands of jobs to place may let sbatch wait for minutes. */
const SUBMIT_MS = 120_000;
/** Time for which a job whose sbatch has said nothing is looked for. */
const LOOK_FOR_MS = 60_000;
const FIRST_LOOK_MS = 1_000;
/** squeue prints these for missing values. */
const NOTHING: ReadonlySet<string> = new Set([
  '',
  'None',
  'N/A',
  'NONE',
  '(null)',
  'n/a',
]);

/**
 * Messages that the controller cannot be reached, or that this machine does not know where it is; or
 * that its answer was lost, as when it is started again: it may have taken the job.
 */
const SILENT = new RegExp(
  [
    'unable to contact|timed out|connection refused|configuration (file|source)',
    'zero bytes|unexpected message|message (receive|send)|communication|header lengths',
    'connection reset|broken pipe|transport endpoint|standby|temporarily',
  ].join('|'),
  'i',
);

/** States of a job that is over; in all others it may still run. */
const OVER: ReadonlySet<string> = new Set([
  'BOOT_FAIL',
  'CANCELLED',
  'COMPLETED',
  'DEADLINE',
  'FAILED',
  'NODE_FAIL',
  'OUT_OF_MEMORY',
  'PREEMPTED',
  'REVOKED',
  'TIMEOUT',
]);

export interface JobStatus {
  /** Slurm's state. `UNKNOWN`: Slurm has forgotten the job. */
  readonly state: string;
  readonly reason?: string | undefined;
  /** When it is expected to start, or has started; ms since 1970. */
  readonly start?: number | undefined;
  /** When its time is up; ms since 1970. */
  readonly end?: number | undefined;
  /** Cores of all of its nodes. */
  readonly cores: number;
  /** Names of the job's nodes as Slurm abbreviates them: `n[0-3]`. */
  readonly nodeList: string;
}

export const isOver = ({ state }: Pick<JobStatus, 'state'>): boolean =>
  state === 'UNKNOWN' || OVER.has(state);

export interface Submission {
  readonly script: string;
  readonly options: readonly string[];
  readonly mark: JobMark;
  /** The login node's name, for errors. */
  readonly node: string;
  /** The job is no longer wanted: sbatch is killed. */
  readonly signal?: AbortSignal | undefined;
  readonly submitMs?: number;
  readonly lookForMs?: number;
}

/**
 * Submits a script with sbatch. A job whose number sbatch does not say, because it is slow,
 * hangs, or speaks otherwise, is found by its mark.
 * @throws GradwireError `SLURM_MISSING`, `SLURM_SILENT`, `SLURM_REFUSED`
 */
export async function submitJob(submission: Submission): Promise<SlurmJob> {
  const { script, options, mark, node, signal } = submission;
  const { submitMs = SUBMIT_MS, lookForMs = LOOK_FOR_MS } = submission;
  const answer = await callSlurm('sbatch', ['--parsable', ...options], {
    input: script,
    node,
    answerMs: submitMs,
    signal,
  });
  if (answer.code === 0) {
    const job = submitted(answer.stdout, mark);
    if (job !== undefined) return job;
  }
  // "Socket timed out" leaves it open whether the controller has taken the job.
  const isSilent = answer.late || SILENT.test(answer.stderr);
  const isUnclear = isSilent || answer.code === 0;
  const found = await lookFor(mark, isUnclear ? lookForMs : 0, signal);
  if (found !== undefined) return found;
  if (isSilent) {
    throw failure('SLURM_SILENT', `Slurm does not respond: ${wordsOf(answer)}`, {
      place: node,
      next:
        'Try again when sinfo works on the login node. If Slurm has taken the job all the same, ' +
        `it is cancelled as soon as it is seen; scancel --name="${mark.name}" does the same.`,
    });
  }
  throw inputError('SLURM_REFUSED', `Slurm rejected the job: ${wordsOf(answer)}`, {
    place: node,
    next:
      `It was asked for with ${askedWith(options)}. Correct the machine’s settings ` +
      `(gradwire nodes edit ${node}), or ask the cluster’s administrators.`,
  });
}

/** Options that are every job's, and say nothing about why one is refused. */
const EVERY_JOBS = /^--(job-name|comment|output|chdir|ntasks-per-node)=|^--no-requeue$/;

const askedWith = (options: readonly string[]): string =>
  options.filter((option) => !EVERY_JOBS.test(option)).join(' ');

/** Reads `17`, or `17;cluster`, which sbatch prints last. */
function submitted(stdout: string, mark: JobMark): SlurmJob | undefined {
  const line = stdout.trim().split('\n').at(-1) ?? '';
  const [, id, cluster] = /^(\d+)(?:;(\S+))?$/.exec(line.trim()) ?? [];
  if (id === undefined) return undefined;
  return { ...mark, id, ...(cluster === undefined ? {} : { clusters: cluster }) };
}

/** Looks until it is there, or for so long; once at least. */
async function lookFor(
  mark: JobMark,
  ms: number,
  signal?: AbortSignal,
): Promise<SlurmJob | undefined> {
  const deadline = performance.now() + ms;
  const pauses = new GrowingPause({ first: FIRST_LOOK_MS, factor: 1.5 });
  while (signal?.aborted !== true) {
    const found = await findJob(mark, signal);
    const left = deadline - performance.now();
    if (found !== undefined || left <= 0) return found;
    await new Promise((resolve) => setTimeout(resolve, Math.min(pauses.next(), left)));
  }
  return undefined;
}

/** The job with the mark; undefined if there is none, or Slurm does not answer. */
async function findJob(
  mark: JobMark,
  signal?: AbortSignal,
): Promise<SlurmJob | undefined> {
  const answer = await askSqueue(
    mark,
    [`--name=${mark.name}`, '--format=%A|%j|%k'],
    signal,
  );
  if (answer?.code !== 0) return undefined;
  // With a header, because only then squeue says which cluster it lists.
  let cluster = mark.clusters;
  for (const line of answer.lines) {
    cluster = /^CLUSTER: (\S+)/.exec(line)?.[1] ?? cluster;
    const id = /^(\d+)\|/.exec(line)?.[1];
    if (id === undefined || !line.includes(mark.token)) continue;
    return { ...mark, id, ...(cluster === undefined ? {} : { clusters: cluster }) };
  }
  return undefined;
}

/** A job's state; undefined if Slurm does not answer now. */
export async function askJob(job: SlurmJob): Promise<JobStatus | undefined> {
  const format = '--format=%T|%r|%S|%e|%C|%N';
  const answer = await askSqueue(job, ['--noheader', `--jobs=${job.id}`, format]);
  if (answer === undefined) return undefined;
  const { code, lines, stderr } = answer;
  const line = lines.find((one) => one.includes('|'));
  if (code === 0 && line !== undefined) return parseStatus(line);
  const forgotten = code === 0 || /invalid job id/i.test(stderr);
  return forgotten ? { state: 'UNKNOWN', cores: 0, nodeList: '' } : undefined;
}

interface Listed {
  readonly code: number;
  readonly lines: readonly string[];
  readonly stderr: string;
}

/** Asks squeue; undefined without one: its directory may be away for now, and with it no job. */
async function askSqueue(
  mark: JobMark,
  options: readonly string[],
  signal?: AbortSignal,
): Promise<Listed | undefined> {
  // Hidden partitions, which squeue and scontrol otherwise leave out, have jobs too.
  const args = ['--all', '--states=all', ...onCluster(mark), ...options];
  try {
    const { code, stdout, stderr } = await callSlurm('squeue', args, { signal });
    const lines = stdout.split('\n').map((line) => line.trim());
    return { code, lines: lines.filter((line) => line !== ''), stderr };
  } catch (error) {
    if (error instanceof GradwireError && error.code === 'SLURM_MISSING')
      return undefined;
    throw error;
  }
}

/** A line of squeue in the format that `askJob` asks for. */
export function parseStatus(line: string): JobStatus {
  const [state = 'UNKNOWN', reason = '', start = '', end = '', cores = '', nodes = ''] =
    line.split('|').map((field) => field.trim());
  return {
    state,
    reason: NOTHING.has(reason) ? undefined : reason,
    start: timeOf(start),
    end: timeOf(end),
    cores: Number(cores) || 0,
    nodeList: NOTHING.has(nodes) ? '' : nodes,
  };
}

export interface ComputeNode {
  readonly name: string;
  /** The name or address at which other nodes reach it. */
  readonly address: string;
}

/**
 * The nodes of a list, in Slurm's order.
 * @throws GradwireError `SLURM_SILENT`, `SLURM_MISSING`
 */
export async function findNodes(
  nodeList: string,
  job: Pick<JobMark, 'clusters'> = {},
): Promise<readonly ComputeNode[]> {
  const answer = await callSlurm('scontrol', [
    ...onCluster(job),
    ...['--all', '--oneliner', 'show', 'node', nodeList],
  ]);
  const { code, stdout } = answer;
  const nodes = stdout.split('\n').flatMap((line): ComputeNode[] => {
    const name = /(?:^|\s)NodeName=(\S+)/.exec(line)?.[1];
    if (name === undefined) return [];
    return [{ name, address: /\sNodeAddr=(\S+)/.exec(line)?.[1] ?? name }];
  });
  if (code === 0 && nodes.length > 0) return nodes;
  throw failure(
    'SLURM_SILENT',
    `Slurm cannot expand the node list ${nodeList}: ${wordsOf(answer)}`,
    {
      next: 'Launch the run again.',
    },
  );
}

/** Reads a time in the login node's time zone, as Slurm prints it. */
function timeOf(text: string): number | undefined {
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}
