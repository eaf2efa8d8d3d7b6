/**
 * A limit of this process, and of those that it starts, that the system refuses memory by: of
 * addresses or of data. Linux only; elsewhere none is found.
 */
import { readFileSync } from 'node:fs';
import {
  addressSpaceText,
  NEEDED_ADDRESS_MIB,
} from '../../shared/machines/address-space.ts';
import { failure, type ErrorData } from '../../shared/errors/errors.ts';

const LIMITS = [
  { row: 'Max address space', name: 'RLIMIT_AS', option: 'ulimit -v' },
  { row: 'Max data size', name: 'RLIMIT_DATA', option: 'ulimit -d' },
] as const;
const MIB = 1 << 20;

/** Last words of a process that V8, C++ or the loader of libraries ends for lack of memory. */
const LAST_WORDS =
  /Fatal process out of memory: .*|FATAL ERROR: .*(?:out of memory|Allocation failed).*|std::bad_alloc|failed to map segment.*|[Cc]annot allocate memory/;

/** Finds what a process said as it ended for lack of memory; undefined if it ended otherwise. */
export const memoryWords = (stderr: string): string | undefined =>
  LAST_WORDS.exec(stderr)?.[0];

export type MemoryLimit = Omit<(typeof LIMITS)[number], 'row'> & {
  readonly mebibytes: number;
};

/** @param limits the text of `/proc/self/limits` */
export function memoryLimit(limits = ownLimits()): MemoryLimit | undefined {
  for (const { row, name, option } of LIMITS) {
    const soft = new RegExp(`^${row} +(\\d+) `, 'm').exec(limits)?.[1];
    if (soft === undefined) continue;
    return { name, option, mebibytes: Math.floor(Number(soft) / MIB) } as MemoryLimit;
  }
  return undefined;
}

function ownLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return ''; // another system
  }
}

/** The error of a process that got no memory, as of rank 3: the limit is why. */
export function refusedMemory(
  who: string,
  { mebibytes, name, option }: MemoryLimit,
): ErrorData {
  const ofAddresses = name === 'RLIMIT_AS';
  const both = `${name}, ${option}`;
  const limit =
    ofAddresses && mebibytes < NEEDED_ADDRESS_MIB
      ? addressSpaceText(mebibytes, both)
      : `a process may use ${mebibytes} MiB of ${ofAddresses ? 'address space' : 'data'} (${both})`;
  return failure(
    ofAddresses ? 'ADDRESS_SPACE_LIMITED' : 'DATA_SIZE_LIMITED',
    `${who} was refused memory by a limit: ${limit}`,
    {
      next:
        `Remove ${option} where Gradwire is started${ofAddresses ? ': memory itself is not the matter' : ''}. The ` +
        'supervisor keeps the limit that it was started with until none of its runs is left.',
    },
  ).toData();
}
