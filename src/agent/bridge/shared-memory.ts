/**
 * Memory that a program shares with its rank: an anonymous file of the system, mapped by both.
 * It has no name, so nothing of it is left once both are gone, however they end. Linux only.
 */
import { closeSync, ftruncateSync } from 'node:fs';
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import { PAGE_BYTES } from '../memory/page-bytes.ts';

/** MFD_CLOEXEC of linux/memfd.h: no program that we start inherits it. */
const CLOSE_ON_EXEC = 1;
/** PROT_READ | PROT_WRITE and MAP_SHARED of sys/mman.h. */
const READ_WRITE = 3;
const SHARED = 1;
/** MAP_FIXED, Linux. */
const FIXED = 16;

export interface SharedMemory {
  /** The path by which another process of this user opens it. */
  readonly path: string;
  readonly values: Float32Array;
  /** Gives up the descriptor: nobody can open it any more. Those who have mapped it keep it. */
  closePath(): void;
  /** Unmaps it; `values` must not be used afterwards. */
  close(): void;
}

/** A vector whose pages the shared memory takes over: all of them are its own. */
export interface Place {
  /** Bytes of the memory that it lies in. */
  readonly memory: ArrayBufferLike;
  /** The first byte there, at the beginning of a page. */
  readonly offset: number;
}

/**
 * @param length elements, f32, all 0
 * @param place where it appears in this process, in place of what is there; default: anywhere
 * @throws GradwireError `BRIDGE_UNAVAILABLE`
 */
export async function shareMemory(
  length: number,
  place?: Place,
): Promise<SharedMemory> {
  if (process.platform !== 'linux') throw unavailable(`not on ${process.platform}`);
  const koffi = await import('koffi').catch((cause: unknown) => {
    throw unavailable(`koffi cannot be loaded: ${String(cause).split('\n')[0]!}`);
  });
  const libc = koffi.load(null);
  const bytes = PAGE_BYTES * Math.max(1, Math.ceil((4 * length) / PAGE_BYTES));
  const create = libc.func('int memfd_create(const char *, unsigned int)');
  const descriptor = create('gradwire', CLOSE_ON_EXEC) as number;
  if (descriptor < 0)
    throw unavailable(`memfd_create fails with errno ${koffi.errno()}`);
  ftruncateSync(descriptor, bytes);
  const map = libc.func('void *mmap(uintptr_t, size_t, int, int, int, int64_t)');
  // A view, because koffi takes a bare SharedArrayBuffer only on Node 24.9 and newer.
  const wanted =
    place && Number(koffi.address(new Uint8Array(place.memory))) + place.offset;
  const flags = wanted === undefined ? SHARED : SHARED | FIXED;
  const address = map(wanted ?? 0, bytes, READ_WRITE, flags, descriptor, 0) as unknown;
  // MAP_FAILED is −1.
  if (koffi.address(address) === 2n ** 64n - 1n) {
    closeSync(descriptor);
    throw unavailable(`mmap of ${bytes} bytes fails with errno ${koffi.errno()}`);
  }
  const unmap = libc.func('int munmap(void *, size_t)');
  let isOpen = true;
  return {
    path: `/proc/${process.pid}/fd/${descriptor}`,
    values: place
      ? new Float32Array(place.memory, place.offset, length)
      : new Float32Array(koffi.view(address, bytes), 0, length),
    closePath: () => {
      if (isOpen) closeSync(descriptor);
      isOpen = false;
    },
    close: () => {
      if (isOpen) closeSync(descriptor);
      isOpen = false;
      // What took the place of other memory stays until the process ends.
      if (place === undefined) unmap(address, bytes);
    },
  };
}

const unavailable = (why: string): GradwireError =>
  failure('BRIDGE_UNAVAILABLE', `no memory can be shared with the program: ${why}`, {
    next: 'Run the program on a Linux machine, with the optional dependency koffi.',
  });
