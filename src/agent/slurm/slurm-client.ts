/**
 * Slurm's commands on a login node: sbatch, squeue, scontrol, scancel. Output is
 * requested in formats that all versions of the last ten years support.
 */
import { execFile, spawn } from 'node:child_process';
import { failure, inputError, type GradwireError } from '../../shared/errors.ts';

/** A busy controller answers late; an absent one makes commands wait this long. */
const ANSWER_MS = 60_000;
/** squeue prints these for missing values. */
const NOTHING: ReadonlySet<string> = new Set([
  '',
  'None',
  'N/A',
  'NONE',
  '(null)',
  'n/a',
]);

/** It cannot be reached, or this machine does not know where it is. */
const SILENT =
  /unable to contact|timed out|connection refused|configuration (file|source)/i;

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
  /** Its nodes as Slurm abbreviates them: `n[0-3]`. */
  readonly nodeList: string;
}

export const isOver = ({ state }: Pick<JobStatus, 'state'>): boolean =>
  state === 'UNKNOWN' || OVER.has(state);

/**
 * Submits a script with sbatch.
 * @param node the login node's name, for errors
 * @returns the job's number
 * @throws GradwireError `SLURM_MISSING`, `SLURM_SILENT`, `SLURM_REFUSED`
 */
export async function submitJob(
  script: string,
  options: readonly string[],
  node: string,
): Promise<string> {
  const args = ['--parsable', ...options];
  const { code, stdout, stderr } = await call('sbatch', args, { input: script, node });
  // With several clusters: `17;cluster`.
  const job = stdout.trim().split('\n').at(-1)?.split(';')[0] ?? '';
  if (code === 0 && /^\d+$/.test(job)) return job;
  if (SILENT.test(stderr)) {
    throw failure('SLURM_SILENT', `Slurm does not respond: ${wordsOf(stderr)}`, {
      next: 'Try again when sinfo works on the login node.',
    });
  }
  throw inputError('SLURM_REFUSED', `Slurm rejected the job: ${wordsOf(stderr)}`, {
    place: node,
    next:
      `Correct the machine’s settings (gradwire nodes edit ${node}), ` +
      'or ask the cluster’s administrators.',
  });
}

/** A job's state; undefined if Slurm does not answer now. */
export async function askJob(job: string): Promise<JobStatus | undefined> {
  const format = '%T|%r|%S|%e|%C|%N';
  const { code, stdout, stderr } = await call('squeue', [
    ...['--noheader', '--states=all', `--jobs=${job}`, `--format=${format}`],
  ]);
  const line = stdout.trim();
  if (code === 0 && line !== '') return parseStatus(line);
  const forgotten = code === 0 || /invalid job id/i.test(stderr);
  return forgotten ? { state: 'UNKNOWN', cores: 0, nodeList: '' } : undefined;
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
 * @throws GradwireError `SLURM_SILENT`
 */
export async function findNodes(nodeList: string): Promise<readonly ComputeNode[]> {
  const { code, stdout, stderr } = await call('scontrol', [
    ...['--oneliner', 'show', 'node', nodeList],
  ]);
  const nodes = stdout.split('\n').flatMap((line): ComputeNode[] => {
    const name = /(?:^|\s)NodeName=(\S+)/.exec(line)?.[1];
    if (name === undefined) return [];
    return [{ name, address: /\sNodeAddr=(\S+)/.exec(line)?.[1] ?? name }];
  });
  if (code === 0 && nodes.length > 0) return nodes;
  throw failure(
    'SLURM_SILENT',
    `Slurm cannot expand the node list ${nodeList}: ${wordsOf(stderr)}`,
    {
      next: 'Launch the run again.',
    },
  );
}

/** Ends a job, even if this process ends first. */
export function cancelJob(job: string): void {
  const child = spawn('scancel', ['--quiet', job], {
    detached: true,
    stdio: 'ignore',
    env: slurmEnvironment(),
  });
  // Without scancel there is no job either.
  child.on('error', () => undefined);
  child.unref();
}

/** Variables that change what commands do or print; only ours may count. */
export function strayVariables(environment = process.env): readonly string[] {
  return Object.keys(environment).filter(
    (name) => name.startsWith('SLURM_') && !KEPT.has(name),
  );
}

/** The cluster and the user. */
const KEPT: ReadonlySet<string> = new Set([
  'SLURM_CONF',
  'SLURM_JWT',
  'SLURM_CLUSTERS',
]);

function slurmEnvironment(): NodeJS.ProcessEnv {
  const stray = new Set(strayVariables());
  const rest = Object.entries(process.env).filter(([name]) => !stray.has(name));
  return { ...Object.fromEntries(rest), SLURM_TIME_FORMAT: 'standard' };
}

interface Called {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function call(
  command: string,
  args: readonly string[],
  {
    input = '',
    node = 'NAME',
  }: { readonly input?: string; readonly node?: string } = {},
): Promise<Called> {
  return new Promise((resolve, reject) => {
    const options = { timeout: ANSWER_MS, env: slurmEnvironment() };
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      if (error?.code === 'ENOENT') reject(missing(command, node));
      else
        resolve({ code: error === null ? 0 : Number(error.code) || 1, stdout, stderr });
    });
    child.stdin?.on('error', () => undefined); // It has said why, or ends without reading.
    child.stdin?.end(input);
  });
}

function missing(command: string, node: string): GradwireError {
  return failure('SLURM_MISSING', `this machine has no ${command}`, {
    next:
      'Check that it is a login node of a Slurm cluster and that Slurm is in the PATH of SSH ' +
      `commands (ssh HOST command -v sbatch). If it is not one: gradwire nodes edit ${node} --unset slurm.`,
  });
}

/** `sbatch: error: a\nsbatch: error: b` → `a; b` */
function wordsOf(stderr: string): string {
  const lines = stderr
    .split('\n')
    .map((line) => line.replace(/^\w+: (error|fatal): /, '').trim())
    .filter((line) => line !== '');
  return lines.length === 0 ? 'no reason given' : lines.slice(-3).join('; ');
}

/** In the login node's time zone, as Slurm prints it. */
function timeOf(text: string): number | undefined {
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}
