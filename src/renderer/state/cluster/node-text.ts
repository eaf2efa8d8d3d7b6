/** Texts for a machine's facts and activity. */
import {
  DEPLOY_STEP_NAMES,
  type NodeActivity,
  type NodeStatus,
} from '../../../shared/machines/node-status.ts';
import type { SlurmSettings } from '../../../shared/machines/slurm-settings.ts';
import { transportText } from '../../../shared/machines/ssh-transport.ts';
import type { GpuReport, Preflight } from '../../../shared/machines/preflight.ts';
import { formatBytes } from '../../../shared/words/units.ts';

const MEBIBYTE = 2 ** 20;
const ACTIVITIES = {
  check: 'Checking the machine',
  deploy: 'Deploying',
  uninstall: 'Uninstalling',
} as const;

/** `Deploying: uploading the agent`. */
export function activityText({ kind, progress }: NodeActivity): string {
  if (progress === undefined) return `${ACTIVITIES[kind]}…`;
  const about = progress.package === undefined ? '' : ` the ${progress.package}`;
  return `${ACTIVITIES[kind]}: ${DEPLOY_STEP_NAMES[progress.step]}${about}`;
}

/** The fraction of an upload that is done, from 0 to 1; undefined when unknown. */
export function activityPart({ progress }: NodeActivity): number | undefined {
  const { doneBytes = 0, totalBytes } = progress ?? {};
  return totalBytes === undefined || totalBytes === 0
    ? undefined
    : Math.min(1, doneBytes / totalBytes);
}

/** `12.5 of 51 MB`; undefined when nothing is being uploaded. */
export function activityBytes({ progress }: NodeActivity): string | undefined {
  return progress?.totalBytes === undefined
    ? undefined
    : `${formatBytes(progress.doneBytes ?? 0)} of ${formatBytes(progress.totalBytes)}`;
}

export interface Fact {
  readonly name: string;
  readonly value: string;
}

/** The Slurm settings that were given. */
export function slurmFacts(settings: SlurmSettings): readonly Fact[] {
  const { partition, account, time, nodes, setup, options } = settings;
  const { ranksPerNode, cpusPerNode, gpusPerNode } = settings;
  return factsOf([
    ['partition', partition],
    ['account', account],
    ['time limit', time && timeLimitText(time)],
    ['nodes', nodes?.toString()],
    [
      'ranks per node',
      ranksPerNode === undefined ? undefined : `at most ${ranksPerNode}`,
    ],
    ['cores per node', cpusPerNode?.toString()],
    ['GPUs per node', gpusPerNode?.toString()],
    ['setup', setup.join('; ') || undefined],
    ['sbatch', options.join(' ') || undefined],
  ]);
}

/** Slurm takes a mere number as minutes. */
const timeLimitText = (time: string): string =>
  /^\d+$/.test(time) ? counted(Number(time), 'minute') : time;

/** A preflight's facts, hardware first; unknown facts are omitted. */
export function machineFacts(seen: Preflight): readonly Fact[] {
  return factsOf([
    ['system', systemText(seen)],
    ['cores', seen.cores?.toString()],
    ['memory', sizeOf(seen.memoryMiB)],
    ['driver', seen.driver],
    ['Node', nodeText(seen)],
    ['home', [seen.home, seen.fileSystem].filter(Boolean).join(', ')],
    ['free', sizeOf(seen.freeMiB)],
    ['addresses', seen.addresses.join(', ') || undefined],
    ['reached through', seen.transport && transportText(seen.transport)],
  ]);
}

const systemText = ({ system, kernel, machine, libc }: Preflight): string =>
  [`${system} ${kernel}`, machine, libc === 'unknown' ? undefined : libc]
    .filter((part) => part !== undefined)
    .join(', ');

const factsOf = (
  facts: readonly (readonly [string, string | undefined])[],
): readonly Fact[] =>
  facts.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));

function nodeText({ node, bringsNode }: Preflight): string {
  if (node === undefined) return 'none: Gradwire installs its own';
  return bringsNode ? `${node}, too old: Gradwire installs a newer one` : node;
}

export function gpuText({ name, memoryMiB, bus, othersProcesses }: GpuReport): string {
  return [name, sizeOf(memoryMiB), bus, othersText(othersProcesses)]
    .filter((part) => part !== undefined)
    .join(', ');
}

/**
 * Sums up what matters when machines are chosen for a run: `32 cores, 2 × NVIDIA H200,
 * ready`. A login node's own hardware does not: no rank runs there.
 * @param cores of this computer, which has some without a check
 */
export function machineSummary(node: NodeStatus, cores?: number): string {
  const { entry, preflight } = node;
  const own = preflight?.cores ?? (entry === undefined ? cores : undefined);
  const hardware =
    entry?.slurm === undefined
      ? [own && counted(own, 'core'), gpusText(preflight?.gpus ?? [])]
      : [
          'Slurm cluster',
          entry.slurm.partition && `partition ${entry.slurm.partition}`,
        ];
  return [...hardware, entry && readinessText(node)].filter(Boolean).join(', ');
}

/** `2 × NVIDIA H200`; empty if there are none. */
function gpusText(gpus: readonly GpuReport[]): string {
  const names = [...new Set(gpus.map(({ name }) => name))];
  return names
    .map((name) => ({ name, count: gpus.filter((gpu) => gpu.name === name).length }))
    .map(({ name, count }) => (count === 1 ? name : `${count} × ${name}`))
    .join(', ');
}

/** Whether it can take ranks, as far as is known. */
function readinessText(node: NodeStatus): string {
  const { connection, error, preflight } = node;
  if (isReady(node)) return 'ready';
  if (connection !== 'idle' && connection !== 'connected')
    return connectionText(node).word;
  if (error !== undefined) return `last attempt failed (${error.code})`;
  if (preflight === undefined) return 'not checked yet';
  const errors = preflight.findings.filter(({ level }) => level === 'error').length;
  return errors > 0
    ? counted(errors, 'error')
    : counted(preflight.findings.length, 'warning');
}

const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? '' : 's'}`;

function othersText(processes: number | undefined): string | undefined {
  if (processes === undefined) return 'whether others use it is not known';
  if (processes === 0) return undefined;
  return `${processes} ${processes === 1 ? 'process' : 'processes'} of other users`;
}

/** The connection state that a card shows. */
export function connectionText(node: NodeStatus): {
  readonly word: string;
  readonly tone: 'good' | 'warn' | 'bad' | 'quiet';
} {
  const { entry, connection, roundTripMs, attempt, runs, silence } = node;
  if (entry === undefined) return { word: 'here', tone: 'good' };
  if (silence !== undefined) return { word: 'does not answer', tone: 'warn' };
  switch (connection) {
    case 'connected': {
      const time = roundTripMs === undefined ? '' : `, ${wholeMs(roundTripMs)}`;
      return { word: `connected${time}`, tone: 'good' };
    }
    case 'reconnecting': {
      const tries =
        attempt?.last === undefined ? '' : `, ${attempt.number} of ${attempt.last}`;
      const going = runs.length > 0 ? ', runs continue' : tries;
      return { word: `reconnecting${going}`, tone: 'warn' };
    }
    case 'unreachable':
      return { word: 'unreachable', tone: 'bad' };
    case 'refused': {
      const going = runs.length > 0 ? ', runs continue' : '';
      return { word: `log-in refused${going}: check it`, tone: 'warn' };
    }
    case 'idle':
      return { word: 'not connected', tone: 'quiet' };
    default:
      return connection satisfies never;
  }
}

/**
 * Writes a round trip in whole ms: it is measured again and again, so digits behind the point
 * would only flicker.
 */
const wholeMs = (milliseconds: number): string =>
  milliseconds < 1 ? '< 1 ms' : `${Math.round(milliseconds)} ms`;

/** Whether a card may say so: its check found nothing, and the machine has not gone since. */
const isReady = (node: NodeStatus): boolean =>
  isThere(node) && node.preflight?.findings.length === 0;

/** A card's words about a machine that can take ranks; undefined of others. */
export function readyText(node: NodeStatus): string | undefined {
  if (isReady(node)) return 'Ready for runs.';
  const findings = node.preflight?.findings;
  const isUsable = findings?.every(({ level }) => level === 'warning') === true;
  return isUsable && isThere(node) ? 'Ready for runs, with warnings.' : undefined;
}

const isThere = ({ connection, error }: NodeStatus): boolean =>
  error === undefined && (connection === 'idle' || connection === 'connected');

const sizeOf = (mebibytes: number | undefined): string | undefined =>
  mebibytes === undefined ? undefined : formatBytes(mebibytes * MEBIBYTE);

/**
 * A suggested name for a host: the first part of its own name, or the whole address.
 */
export function nameOf(host: string): string {
  if (/^[\d.]+$/.test(host)) return host;
  if (host.includes(':')) return `ip${host.replaceAll(':', '-')}`.replace(/-+$/, '');
  return host.split('.')[0] ?? '';
}
