/**
 * The holder of a home's lock: a process, named so that no other process on any machine has
 * the same name, and what can be known of it from here. "Nobody answers" proves nothing: it
 * may be on another machine that shares the home, or in a container whose processes are not
 * visible here. So a holder counts as dead only if this machine can prove it.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';

const holderSchema = z.object({
  /** Random token that names this holding of the lock. */
  token: z.string().regex(/^[0-9a-f]{32}$/),
  host: z.string().min(1),
  /** Id of the installation: two machines may have one host name. */
  machine: z.string().optional(),
  /** Changes whenever the machine starts. */
  boot: z.string().optional(),
  /** Namespaces in which process ids and start times are valid. */
  namespaces: z.string().optional(),
  pid: z.int().positive(),
  /** When the process started: process ids are used again. */
  started: z.string().optional(),
});

export type LockHolder = z.infer<typeof holderSchema>;

/**
 * `elsewhere`: on another machine, so nothing is known of it. `hidden`: on this one, in
 * another container or PID namespace, so neither.
 */
export type HolderFate = 'alive' | 'dead' | 'elsewhere' | 'hidden';

/**
 * Reads a holder; undefined if the text is not one, for instance because it is not complete yet.
 */
export function parseHolder(text: string): LockHolder | undefined {
  try {
    return holderSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // no JSON: the caller waits, then says that the file is damaged
  }
}

/** Describes this process as a holder. */
export function ownHolder(token: string): LockHolder {
  return { token, ...thisMachine(), pid: process.pid, started: startOf(process.pid) };
}

/** @param here the machine that judges; default: this one */
export function fateOf(holder: LockHolder, here = thisMachine()): HolderFate {
  const { host, machine, boot, namespaces, pid, started } = holder;
  if (host !== here.host || differ(machine, here.machine)) return 'elsewhere';
  if (differ(boot, here.boot)) return 'dead';
  if (namespaces !== here.namespaces) return 'hidden';
  const now = startOf(pid);
  if (now === 'none') return 'dead';
  return differ(started, now) ? 'dead' : 'alive';
}

/** Whether two known values differ; what is unknown on one side proves nothing. */
const differ = (a: string | undefined, b: string | undefined): boolean =>
  a !== undefined && b !== undefined && a !== b;

export type Machine = Pick<LockHolder, 'host' | 'machine' | 'boot' | 'namespaces'>;

/** Describes this machine, as it is seen from this process. */
export function thisMachine(): Machine {
  const host = hostname() || 'localhost';
  if (process.platform === 'linux') {
    return {
      host,
      machine: contentOf('/etc/machine-id'),
      boot: contentOf('/proc/sys/kernel/random/boot_id'),
      // A time namespace shifts start times.
      namespaces: `${linkOf('/proc/self/ns/pid')} ${linkOf('/proc/self/ns/time')}`,
    };
  }
  return { host, boot: bootElsewhere() };
}

/** macOS has an id of each start too; Windows has none that costs little. */
function bootElsewhere(): string | undefined {
  if (process.platform !== 'darwin') return undefined;
  return outputOf('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid']);
}

/**
 * When a process started; `none` if there is no such process, undefined if the system does
 * not say.
 */
function startOf(pid: number): string | undefined {
  if (!exists(pid)) return 'none';
  if (process.platform === 'linux') return linuxStart(pid);
  if (process.platform === 'win32') return undefined;
  return outputOf('/bin/ps', ['-o', 'lstart=', '-p', String(pid)]);
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Reads when a process started, in ticks since the machine started. */
function linuxStart(pid: number): string | undefined {
  const stat = contentOf(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name before it may contain anything, parentheses too: proc(5).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A zombie has ended; its parent, such as a container without an init, never asks.
  if (fields[0] === 'Z' || fields[0] === 'X') return 'none';
  return fields[19];
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch {
    return undefined; // unknown, which proves nothing
  }
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return ''; // a kernel without such namespaces
  }
}

function outputOf(program: string, args: readonly string[]): string | undefined {
  try {
    const env = { LC_ALL: 'C', TZ: 'UTC' };
    return execFileSync(program, args, { encoding: 'utf8', env }).trim() || undefined;
  } catch {
    return undefined; // unknown, which proves nothing
  }
}
