/**
 * Whether the system has killed processes of our control group for lack of memory, as it does where a container
 * or a batch job may have no more. Linux only; elsewhere nothing is known.
 */
import { readFileSync } from 'node:fs';
import { controlGroupFolders, type ReadText } from './control-group-folders.ts';

/** Limits above this are none: version 1 writes the largest number of pages. */
const UNLIMITED = 2 ** 60;
const MIB = 1 << 20;

export class MemoryKills {
  readonly #read: ReadText;
  readonly #before: number | undefined;

  /** Counts from now on. */
  constructor(read: ReadText = readText) {
    this.#read = read;
    this.#before = killsOf(read);
  }

  /** The lack for which a process may have been killed; undefined: none was killed for memory since. */
  get reason(): string | undefined {
    const now = killsOf(this.#read);
    if (now === undefined || this.#before === undefined || now <= this.#before) {
      return undefined;
    }
    const limit = limitOf(this.#read);
    const most =
      limit === undefined ? '' : `, which may have ${Math.floor(limit / MIB)} MiB`;
    return `the system killed for lack of memory in its control group${most}`;
  }
}

/** Advice for a process that got too little. */
export const MORE_MEMORY =
  'Give the container or the job more memory, or lower workload.batchPerRank or world.ranks.';

/** Processes of the innermost group that were killed for lack of memory; undefined: nobody counts them. */
function killsOf(read: ReadText): number | undefined {
  const counts = [
    ...controlGroupFolders(read, '').map((folder) => read(`${folder}/memory.events`)),
    ...controlGroupFolders(read, 'memory').map((folder) =>
      read(`${folder}/memory.oom_control`),
    ),
  ].flatMap((text) => /^oom_kill (\d+)$/m.exec(text ?? '')?.[1] ?? []);
  const count = counts.at(-1);
  return count === undefined ? undefined : Number(count);
}

/** The tightest limit in bytes. */
function limitOf(read: ReadText): number | undefined {
  const limits = [
    ...controlGroupFolders(read, '').map((folder) => read(`${folder}/memory.max`)),
    ...controlGroupFolders(read, 'memory').map((folder) =>
      read(`${folder}/memory.limit_in_bytes`),
    ),
  ]
    .map(Number)
    .filter((bytes) => bytes > 0 && bytes < UNLIMITED);
  return limits.length === 0 ? undefined : Math.min(...limits);
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // another system, or a group of another version
  }
}
