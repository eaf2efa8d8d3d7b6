/** The processes of Gradwire on this machine, as `ps` would show them. Linux's /proc. */
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessEntry {
  readonly pid: number;
  readonly title: string;
}

export function processesMatching(text: string): readonly ProcessEntry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const title = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll(
          '\0',
          ' ',
        );
        // A zombie has no command line; it is not a process that still runs.
        return title.includes(text) && Number(name) !== process.pid
          ? [{ pid: Number(name), title: title.trim() }]
          : [];
      } catch {
        return []; // it ended while we looked
      }
    });
}

/** Poll until the condition holds; fails with what it last saw. */
export async function untilAsync<T>(
  look: () => Promise<T>,
  holds: (seen: T) => boolean,
  what: string,
  timeoutMs = 10_000,
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
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export async function until<T>(
  look: () => T,
  holds: (seen: T) => boolean,
  what: string,
  timeoutMs = 10_000,
): Promise<T> {
  return await untilAsync(() => Promise.resolve(look()), holds, what, timeoutMs);
}
