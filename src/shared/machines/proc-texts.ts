/** Numbers in the files of Linux's /proc. */

/** The unit of times in /proc, in milliseconds: 1/USER_HZ, the same on all of Linux. */
const TICK_MS = 10;

/** The numbers of `/proc/PID/stat` from the parent on. */
export const processNumbers = (stat: string): readonly number[] =>
  // The name before may contain anything, a parenthesis too.
  stat
    .slice(stat.lastIndexOf(')') + 4)
    .split(' ')
    .map(Number);

/** Processor time of a process and of its children that have ended, in milliseconds. */
export const processTime = (numbers: readonly number[]): number =>
  // utime, stime, and of children that were waited for cutime and cstime.
  TICK_MS * numbers.slice(10, 14).reduce((sum, ticks) => sum + ticks, 0);

/** Times of processors since the machine started, in milliseconds, all together. */
export interface ProcessorTimes {
  readonly busy: number;
  /** Time that the host of a virtual machine gave to others. */
  readonly stolen: number;
}

/**
 * Reads `/proc/stat`.
 * @param allowed the processors that count; default: all
 */
export function processorTimes(
  stat: string,
  allowed?: ReadonlySet<number>,
): ProcessorTimes {
  let [busy, stolen] = [0, 0];
  for (const [, number, times] of stat.matchAll(/^cpu(\d+) (.*)$/gm)) {
    if (allowed?.has(Number(number)) === false) continue;
    const ticks = times!.trim().split(/\s+/).map(Number);
    const [user = 0, nice = 0, system = 0, , , interrupts = 0, soft = 0] = ticks;
    busy += user + nice + system + interrupts + soft;
    stolen += ticks[7] ?? 0;
  }
  return { busy: TICK_MS * busy, stolen: TICK_MS * stolen };
}

/** The numbers of a list such as `0-3,8`. */
export function listedNumbers(list: string): ReadonlySet<number> {
  const numbers = new Set<number>();
  for (const part of list.split(',')) {
    const [first = '', last = first] = part.trim().split('-');
    if (first === '') continue;
    for (let each = Number(first); each <= Number(last); each++) numbers.add(each);
  }
  return numbers;
}

/** Bytes of a line with kB in `/proc/meminfo` or `/proc/PID/status`; undefined if there is none. */
export function bytesOf(text: string, name: string): number | undefined {
  const kilobytes = new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(text)?.[1];
  return kilobytes === undefined ? undefined : 1024 * Number(kilobytes);
}

/** Bytes that an interface has moved. */
export interface InterfaceBytes {
  readonly received: number;
  readonly sent: number;
}

/** Reads `/proc/net/dev`. */
export function interfaceBytes(dev: string): ReadonlyMap<string, InterfaceBytes> {
  const interfaces = new Map<string, InterfaceBytes>();
  for (const [, name, counts] of dev.matchAll(/^\s*(\S+):\s*(\d.*)$/gm)) {
    const numbers = counts!.split(/\s+/).map(Number);
    interfaces.set(name!, { received: numbers[0] ?? 0, sent: numbers[8] ?? 0 });
  }
  return interfaces;
}
