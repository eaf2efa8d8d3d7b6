/** The error of a rank whose process ended, or was killed, before the rank had finished. */
import { failure, type ErrorData } from '../../shared/errors/errors.ts';
import { errorLine } from '../../shared/errors/last-words.ts';
import { AGAIN } from '../../shared/errors/report-advice.ts';
import { memoryLimit, memoryWords, refusedMemory } from '../memory/memory-limit.ts';
import { MORE_MEMORY } from '../memory/memory-kills.ts';
import type { ProcessExit } from './rank-process.ts';

/** Lines that are told of what the process printed, where none of them is an error's. */
const TOLD_LINES = 3;

interface Whereabouts {
  /** Whether the process had this process's limits; default: it had. */
  readonly isHere?: boolean;
  /** The machine; undefined: this one, which needs no name. */
  readonly node?: string;
}

export function deathOf(
  rank: number,
  exit: Pick<ProcessExit, 'code' | 'signal' | 'stderr' | 'reason'>,
  { isHere = true, node }: Whereabouts = {},
): ErrorData {
  const { code, reason, signal, stderr } = exit;
  const where = node === undefined ? { rank } : { place: node, rank };
  const words = memoryWords(stderr);
  const limit = words !== undefined && isHere ? memoryLimit() : undefined;
  if (limit !== undefined) return { ...refusedMemory(`rank ${rank}`, limit), ...where };
  const how = signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
  const lines = stderr.trim().split('\n');
  const printed =
    words ?? reason ?? errorLine(stderr) ?? lines.slice(-TOLD_LINES).join(' | ');
  return failure(
    'WORKER_DIED',
    `the process of rank ${rank} ${how}${printed === '' ? '' : `: ${printed}`}`,
    {
      ...where,
      next:
        reason !== undefined
          ? MORE_MEMORY
          : signal === 'SIGKILL'
            ? 'It may have been killed by a user, or because memory ran out (see dmesg). Start it again.'
            : AGAIN,
    },
  ).toData();
}
