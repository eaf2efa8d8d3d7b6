/**
 * Keeps a descriptor from the processes that the app starts. Node's own descriptors are not
 * inherited; those of native packages may be.
 */

/** Numbers of fcntl.h, the same on Linux and macOS. */
const F_SETFD = 2;
const FD_CLOEXEC = 1;

/** @returns undefined without the optional package koffi, and on Windows */
export async function loadCloseOnExec(): Promise<
  ((descriptor: number) => void) | undefined
> {
  if (process.platform === 'win32') return undefined;
  try {
    const koffi = await import('koffi');
    const fcntl = koffi.load(null).func('int fcntl(int, int, ...)');
    return (descriptor) => {
      fcntl(descriptor, F_SETFD, 'int', FD_CLOEXEC);
    };
  } catch {
    return undefined;
  }
}
