/**
 * Inspects a node before anything is written to it, by a POSIX shell script that only
 * reads. Its answer is lines `key=value`; values that a machine does not know are
 * missing.
 */
import type { RemoteConnection } from '../ssh/remote-connection.ts';
import { runScript } from '../ssh/remote-script.ts';
import type { SlurmSettings } from '../../shared/machines/slurm-settings.ts';
import type { GpuReport, Preflight } from '../../shared/machines/preflight.ts';
import { isNodeAccepted } from '../../shared/machines/lowest-node.ts';
import { connectionEnds } from './installed.ts';
import { vulkanLoader } from './package-files.ts';
import { platformOf } from './platform.ts';
import { findingsOf, type Answers } from './preflight-findings.ts';
import { INSPECTION } from './preflight-script.ts';

/** Every tool has its own limit; all of them together have this. */
const DEADLINE_MS = 120_000;
/** Most time for the login shell before the first tool. */
const SHELL_MS = 20_000;

export interface PreflightOptions {
  readonly signal?: AbortSignal | undefined;
  /** Slurm's settings of a cluster's login node: Slurm then has to answer, and to have the partition. */
  readonly slurm?: Pick<SlurmSettings, 'partition'> | undefined;
  /** Whether Node is deployed whatever Node it has. */
  readonly bringsNode?: boolean | undefined;
  /** Most seconds for each tool there; default: 10 s. */
  readonly toolSeconds?: number | undefined;
  /** Most time for the machine's login shell to run a command; default: 20 s. */
  readonly shellMs?: number | undefined;
}

/** @throws GradwireError as `runScript` */
export async function preflight(
  connection: RemoteConnection,
  { signal, slurm, bringsNode, toolSeconds, shellMs = SHELL_MS }: PreflightOptions = {},
): Promise<Preflight> {
  const { stdout } = await runScript(connection, INSPECTION, {
    variables: {
      slurm: slurm === undefined ? '0' : '1',
      partition: slurm?.partition ?? '',
      here: '0',
      limit: toolSeconds?.toString() ?? '',
    },
    name: 'the check of the machine',
    deadlineMs: DEADLINE_MS,
    shellMs,
    signal,
  });
  return parsePreflight(stdout, await clockOffset(connection, signal), bringsNode);
}

/**
 * Returns the seconds by which the machine's clock is ahead. A script of its own reads the
 * clock: within the inspection, whose tools may be slow, the moment of reading would be
 * uncertain.
 */
async function clockOffset(
  connection: RemoteConnection,
  signal: AbortSignal | undefined,
): Promise<number> {
  const asked = Date.now();
  const { stdout } = await runScript(connection, 'date +%s', {
    name: 'reading its clock',
    signal,
  });
  const there = Number(stdout.trim() || NaN);
  return offsetOf(there, { asked: asked / 1000, answered: Date.now() / 1000 });
}

/**
 * Returns how far a clock is ahead, in whole seconds, at the least: it was read between the
 * question and the answer, and where a login shell starts slowly that is long.
 * @param there what it read, without the fraction of a second; in seconds since 1970, like
 * the times of this computer's clock
 */
export function offsetOf(
  there: number,
  { asked, answered }: { readonly asked: number; readonly answered: number },
): number {
  if (there > answered) return Math.round(there - answered);
  // It may have been almost a second later there.
  const behind = asked - (there + 1);
  return behind > 0 ? 0 - Math.round(behind) : 0;
}

/**
 * @param text lines `key=value`
 * @param clockOffsetSeconds how far its clock is ahead of this computer's
 * @param bringsNode whether Node is deployed whatever Node it has
 */
export function parsePreflight(
  text: string,
  clockOffsetSeconds: number,
  bringsNode = false,
): Preflight {
  const all = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const at = line.indexOf('=');
    if (at < 0) continue;
    const value = line.slice(at + 1).trim();
    if (value === '') continue;
    const key = line.slice(0, at);
    all.set(key, [...(all.get(key) ?? []), value]);
  }
  const one = (key: string): string | undefined => all.get(key)?.[0];
  const number = (key: string): number | undefined => {
    const value = Number(one(key) ?? NaN);
    return Number.isFinite(value) ? value : undefined;
  };
  const mebibytes = (key: string): number | undefined => {
    const kibibytes = number(key);
    return kibibytes === undefined ? undefined : Math.floor(kibibytes / 1024);
  };
  const given = {
    hostname: one('hostname') ?? 'unknown',
    system: one('system') ?? 'unknown',
    kernel: one('kernel') ?? 'unknown',
    machine: one('machine') ?? 'unknown',
    libc: libcOf(one('libc')),
    glibc: one('glibc'),
    cores: number('cores'),
    memoryMiB: mebibytes('memory'),
    home: one('home') ?? '',
    fileSystem: one('filesystem'),
    freeMiB: mebibytes('free'),
    freeInodes: number('inodes'),
    noexec: one('noexec') !== undefined,
    clockOffsetSeconds,
    node: one('node'),
    bringsNode: bringsNode || !isNodeAccepted(one('node')),
    addresses: all.get('address') ?? [],
    connection: connectionEnds(one('ssh')),
    driver: one('driver'),
    gpus: gpusOf(all),
    vulkan: one('vulkan') !== undefined,
    vulkanDrivers: [...new Set(all.get('icd'))],
    missing: all.get('missing') ?? [],
    leftOut: all.get('leftout') ?? [],
  };
  const platform = platformOf(given);
  const seen = {
    ...given,
    bringsVulkan: platform !== undefined && vulkanLoader(platform).length > 0,
  };
  const answers: Answers = {
    homeless: one('homeless') !== undefined,
    readOnly: one('readonly') !== undefined,
    limits: {
      addressSpaceMiB: mebibytesOf(number('addressspace')),
      openFiles: number('openfiles'),
      processes: number('mostprocesses'),
    },
    late: all.get('late') ?? [],
    failed: (all.get('failed') ?? []).map((line) => {
      const [tool = '', ...words] = line.split(' ');
      return { tool, words: words.join(' ') };
    }),
    slurm: slurmAnswer(one, all.get('slurmpartition') ?? []),
  };
  return { ...seen, findings: findingsOf(seen, answers) };
}

function slurmAnswer(
  one: (key: string) => string | undefined,
  unknown: readonly string[],
): Answers['slurm'] {
  if (one('slurmmissing') !== undefined) return { kind: 'missing' };
  const reason = one('slurmsilent');
  if (reason !== undefined) return { kind: 'silent', reason };
  return unknown.length === 0 ? { kind: 'fine' } : { kind: 'apart', unknown };
}

const mebibytesOf = (bytes: number | undefined): number | undefined =>
  bytes === undefined ? undefined : Math.floor(bytes / 2 ** 20);

const libcOf = (text: string | undefined): Preflight['libc'] =>
  text === 'glibc' || text === 'musl' ? text : 'unknown';

function gpusOf(all: ReadonlyMap<string, readonly string[]>): readonly GpuReport[] {
  const busy = all.get('busy') ?? [];
  const known = all.get('processes') ?? [];
  const nvidia = (all.get('gpu') ?? []).map((line): GpuReport => {
    const [bus, name, memory] = line.split(',').map((part) => part.trim());
    const memoryMiB = Number(memory);
    return {
      bus,
      name: name ?? 'unknown',
      ...(Number.isFinite(memoryMiB) ? { memoryMiB } : {}),
      vendor: 'nvidia',
      ...(known.includes('nvidia')
        ? { othersProcesses: busy.filter((other) => other === bus).length }
        : {}),
    };
  });
  const others = [...new Set(all.get('card'))].map((line): GpuReport => {
    const [bus, id = '?', device = '?'] = line.split(' ');
    const vendor = VENDORS[id];
    return {
      bus: bus && asNvidiaSmi(bus),
      name: `PCI ${id}:${device}`,
      ...(vendor === undefined ? {} : { vendor }),
      ...(vendor === 'amd' && known.includes('amd')
        ? { othersProcesses: busy.filter((other) => other === bus).length }
        : {}),
    };
  });
  return [...nvidia, ...others];
}

/** Vendors by their numbers on the PCI bus. */
const VENDORS: Readonly<Record<string, GpuReport['vendor']>> = {
  '0x10de': 'nvidia',
  '0x1002': 'amd',
  '0x8086': 'intel',
};

/** Linux's `0000:03:00.0` as `00000000:03:00.0`, with capital letters. */
const asNvidiaSmi = (bus: string): string => bus.toUpperCase().padStart(16, '0');
