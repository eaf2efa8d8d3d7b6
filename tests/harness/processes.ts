/**
 * The processes of one home, whoever their parents are by now: they have it in their
 * environment, which a process keeps whatever it calls itself. Linux's /proc.
 */
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** In ticks since the machine started: with the pid it names one process for good. */
  readonly startedAt: number;
  /** What `ps` shows: its arguments, or what it calls itself. */
  readonly title: string;
}

/** Those of a home whose title contains the text. */
export const processesOf = (home: string, text = ''): readonly ProcessEntry[] =>
  processesWith(`GRADWIRE_HOME=${home}`, text);

/** Those that have this in their environment, and whose title contains the text. */
export function processesWith(variable: string, text = ''): readonly ProcessEntry[] {
  const owned = `\0${variable}\0`;
  // Whoever waits looks often: of most processes one file is read, not three.
  const found = livingPids()
    .filter((pid) => pid !== process.pid)
    .filter((pid) => text === '' || titleOf(pid)?.includes(text) === true)
    .filter((pid) => `\0${read(pid, 'environ') ?? ''}\0`.includes(owned))
    .flatMap((pid) => processEntry(pid) ?? []);
  return grown(found.filter(({ title }) => title.includes(text)));
}

/** The children of a process whose title contains the text. */
export function childrenOf(parent: number, text = ''): readonly ProcessEntry[] {
  return livingProcesses().filter(
    (entry) => entry.parent === parent && entry.title.includes(text),
  );
}

/** Whether that very process still runs: a zombie does not, nor does who has its pid now. */
export function isAlive({ pid, startedAt }: ProcessEntry): boolean {
  return processEntry(pid)?.startedAt === startedAt;
}

/**
 * Without children that have not begun yet: between fork and exec a child is its parent,
 * its title included.
 */
function grown(entries: readonly ProcessEntry[]): readonly ProcessEntry[] {
  const byPid = new Map(entries.map((entry) => [entry.pid, entry]));
  return entries.filter(({ parent, title }) => byPid.get(parent)?.title !== title);
}

function livingProcesses(): readonly ProcessEntry[] {
  return livingPids().flatMap((pid) => processEntry(pid) ?? []);
}

function livingPids(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

const titleOf = (pid: number): string | undefined =>
  read(pid, 'cmdline')?.replaceAll('\0', ' ').trim();

function processEntry(pid: number): ProcessEntry | undefined {
  const stat = read(pid, 'stat');
  const title = titleOf(pid);
  // A zombie has no command line, nor has a thread of the kernel.
  if (stat === undefined || title === undefined || title === '') return undefined;
  // The name may contain anything, parentheses too; behind it are numbers: proc(5).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { pid, title, parent: Number(fields[1]), startedAt: Number(fields[19]) };
}

/** A file of a process; undefined where the process has ended, or is another user's. */
function read(pid: number, file: 'stat' | 'cmdline' | 'environ'): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** As long as a busy machine may need: time limits are there for what hangs. */
const PATIENCE_MS = 240_000;

/** Poll until the condition holds; fails with what it last saw. */
export async function untilAsync<T>(
  look: () => Promise<T>,
  holds: (seen: T) => boolean,
  what: string,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (performance.now() > end) {
      throw new Error(
        `waited ${timeoutMs} ms for ${what}, last: ${JSON.stringify(seen)}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export async function until<T>(
  look: () => T,
  holds: (seen: T) => boolean,
  what: string,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  return await untilAsync(() => Promise.resolve(look()), holds, what, timeoutMs);
}
