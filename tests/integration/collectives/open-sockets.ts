/** Sockets of this process, none of which may outlive the test that opened it. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { afterEach, beforeEach, expect } from 'vitest';
import { until } from '../../harness/processes.ts';

/** Every test of the file closes all sockets that it opens. */
export function closesSockets(): void {
  let before: readonly string[] = [];
  beforeEach(() => {
    before = openSockets();
  });
  afterEach(async ({ task }) => {
    // What a failed test leaves open is no fault of the next one.
    if (task.result?.state === 'fail') return;
    await expect
      .poll(() => openSockets().filter((socket) => !before.includes(socket)))
      .toEqual([]);
  });
}

/**
 * Sockets that this process has open. Those of the native
 * transport are descriptors of which Node knows nothing: on Linux they are looked up
 * among the system's connections.
 */
export function openSockets(): readonly string[] {
  const ofNode = process
    .getActiveResourcesInfo()
    .filter((name) => name.startsWith('TCP'));
  return [...ofNode, ...socketDescriptors()];
}

/** For `afterAll`, where nothing can be polled with `expect`. */
export async function allSocketsClosed(): Promise<void> {
  await until(openSockets, (open) => open.length === 0, 'all sockets to be closed');
}

/** Of TCP, and of the Unix sockets on which ranks of one machine listen. */
function socketDescriptors(): string[] {
  if (process.platform !== 'linux') return [];
  const lines = (file: string): string[] => readFileSync(file, 'utf8').split('\n');
  const inodes = new Set([
    ...lines('/proc/net/tcp').map((line) => line.trim().split(/\s+/)[9]),
    ...lines('/proc/net/unix')
      .filter((line) => line.includes('@gradwire-'))
      .map((line) => line.trim().split(/\s+/)[6]),
  ]);
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    const inode = /^socket:\[(\d+)\]$/.exec(linkOf(descriptor))?.[1];
    return inode !== undefined && inodes.has(inode) ? [`descriptor ${descriptor}`] : [];
  });
}

/** Where a descriptor leads; the one that listed them all has gone by now. */
function linkOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return 'closed';
  }
}
