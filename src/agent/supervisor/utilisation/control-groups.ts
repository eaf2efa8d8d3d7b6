/**
 * The limits of the control groups in which this process runs, as containers and batch systems set
 * them, and the use that counts against them: of Linux's control groups, version 1 and 2. Of groups
 * within each other the one with the tightest limit counts.
 */
import {
  controlGroupFolders,
  MOUNT,
  type ReadText,
} from '../../memory/control-group-folders.ts';

/** A limit of processor time. */
export interface ProcessorQuota {
  /** Processors that may be busy in the mean. */
  readonly processors: number;
  /** Processor time of the group since it was made, in milliseconds. */
  readonly used: () => number | undefined;
}

export interface MemoryLimit {
  readonly bytes: number;
  /** Bytes in use, without files that could be dropped. */
  readonly used: () => number | undefined;
}

/** The tightest quota of processor time, if there is one. */
export function processorQuota(read: ReadText): ProcessorQuota | undefined {
  const quotas = [
    ...controlGroupFolders(read, '').map((folder): ProcessorQuota => ({
      processors: quotient(read(`${folder}/cpu.max`)),
      used: () =>
        scaled(/^usage_usec (\d+)/m.exec(read(`${folder}/cpu.stat`) ?? '')?.[1], 1e3),
    })),
    ...controlGroupFolders(read, 'cpu').map((folder): ProcessorQuota => ({
      processors: quotient(
        `${read(`${folder}/cpu.cfs_quota_us`)} ${read(`${folder}/cpu.cfs_period_us`)}`,
      ),
      used: () => {
        const account = folder.replace(`${MOUNT}/cpu`, `${MOUNT}/cpuacct`);
        return scaled(read(`${account}/cpuacct.usage`), 1e6);
      },
    })),
  ].filter(({ processors }) => processors > 0);
  return quotas.toSorted((a, b) => a.processors - b.processors)[0];
}

/** The tightest limit of memory, if there is one below the machine's. */
export function memoryLimit(read: ReadText, machine: number): MemoryLimit | undefined {
  const limits = [
    ...controlGroupFolders(read, '').map((folder): MemoryLimit => ({
      bytes: Number(read(`${folder}/memory.max`) ?? NaN),
      used: () =>
        without(
          read(`${folder}/memory.current`),
          /^inactive_file (\d+)/m.exec(read(`${folder}/memory.stat`) ?? '')?.[1],
        ),
    })),
    ...controlGroupFolders(read, 'memory').map((folder): MemoryLimit => ({
      bytes: Number(read(`${folder}/memory.limit_in_bytes`) ?? NaN),
      used: () =>
        without(
          read(`${folder}/memory.usage_in_bytes`),
          /^total_inactive_file (\d+)/m.exec(read(`${folder}/memory.stat`) ?? '')?.[1],
        ),
    })),
  ].filter(({ bytes }) => bytes > 0 && bytes < machine);
  return limits.toSorted((a, b) => a.bytes - b.bytes)[0];
}

/** `200000 100000` → 2; NaN for anything else, such as `max 100000` or `-1 100000`. */
function quotient(text: string | undefined): number {
  const [quota, period] = (text ?? '').trim().split(/\s+/).map(Number);
  return (quota ?? NaN) / (period ?? NaN);
}

const scaled = (text: string | undefined, divisor: number): number | undefined =>
  text === undefined ? undefined : Number(text) / divisor;

function without(
  all: string | undefined,
  part: string | undefined,
): number | undefined {
  if (all === undefined) return undefined;
  return Math.max(0, Number(all) - Number(part ?? 0));
}
