/**
 * Memory that a program shares with its rank: an anonymous file of the system, mapped by both.
 * It has no name, so nothing of it is left once both are gone, however they end. Linux only.
 */
import { closeSync, ftruncateSync } from 'node:fs';
import { failure, type GradwireError } from '../../shared/errors.ts';

/** MFD_CLOEXEC of linux/memfd.h: no program that we start inherits it. */
const CLOSE_ON_EXEC = 1;
/** PROT_READ | PROT_WRITE and MAP_SHARED of sys/mman.h. */
const READ_WRITE = 3;
const SHARED = 1;

export interface SharedMemory {
  /** The path by which another process of this user opens it. */
  readonly path: string;
  readonly values: Float32Array;
  /** Gives up the descriptor: nobody can open it any more. Those who have mapped it keep it. */
  closePath(): void;
  /** Unmaps it; `values` must not be used afterwards. */
  close(): void;
}

/**
 * @param length elements, f32, all 0
 * @throws GradwireError `BRIDGE_UNAVAILABLE`
 */
export async function shareMemory(length: number): Promise<SharedMemory> {
  if (process.platform !== 'linux') throw unavailable(`not on ${process.platform}`);
  const koffi = await import('koffi').catch((cause: unknown) => {
    throw unavailable(`koffi cannot be loaded: ${String(cause).split('\n')[0]!}`);
  });
  const libc = koffi.load(null);
  const bytes = Math.max(4, 4 * length);
  const create = libc.func('int memfd_create(const char *, unsigned int)');
  const descriptor = create('gradwire', CLOSE_ON_EXEC) as number;
  if (descriptor < 0)
    throw unavailable(`memfd_create fails with errno ${koffi.errno()}`);
  ftruncateSync(descriptor, bytes);
  const map = libc.func('void *mmap(void *, size_t, int, int, int, int64_t)');
  const address = map(null, bytes, READ_WRITE, SHARED, descriptor, 0) as unknown;
  // MAP_FAILED is −1.
  if (koffi.address(address) === 2n ** 64n - 1n) {
    closeSync(descriptor);
    throw unavailable(`mmap of ${bytes} bytes fails with errno ${koffi.errno()}`);
  }
  const unmap = libc.func('int munmap(void *, size_t)');
  let isOpen = true;
  return {
    path: `/proc/${process.pid}/fd/${descriptor}`,
    values: new Float32Array(koffi.view(address, bytes), 0, length),
    closePath: () => {
      if (isOpen) closeSync(descriptor);
      isOpen = false;
    },
    close: () => {
      if (isOpen) closeSync(descriptor);
      isOpen = false;
      unmap(address, bytes);
    },
  };
}

const unavailable = (why: string): GradwireError =>
  failure('BRIDGE_UNAVAILABLE', `no memory can be shared with the program: ${why}`, {
    next: 'Run the program on a Linux machine, with the optional dependency koffi.',
  });
