/**
 * The few functions of libc that the native transport needs, called through koffi: about
 * 0.2 µs more than the system call itself. Linux and macOS, in any thread.
 *
 * koffi is an optional dependency: without it, on another platform, or where it does not do
 * what a test of it expects, there is no native transport and `loadLibc` says why.
 */
import type * as Koffi from 'koffi';
import type { LibraryHandle } from 'koffi';
import os from 'node:os';
import { failure, type GradwireError } from '../../shared/errors/errors.ts';

/** Reads, writes and `duplicate` return −1 on failure; `errno` says why, as its name. */
export interface Libc {
  recv(descriptor: number, address: number, bytes: number): number;
  /** `vectors`: the address of `count` pairs of address and length, 64 bits each. */
  readv(descriptor: number, vectors: number, count: number): number;
  writev(descriptor: number, vectors: number, count: number): number;
  /** A second descriptor of the same socket, not inherited by child processes. */
  duplicate(descriptor: number): number;
  /** Asks for room for this many unsent bytes on a Unix socket; the system may give less. */
  setUnsentBytes(descriptor: number, bytes: number): void;
  /** Yield the core to other threads that wait for it. */
  yield(): void;
  /**
   * Move this thread to the place-th of the cores that it may use, and leave it free to
   * be moved again. Does nothing if there are fewer, or on macOS.
   */
  moveToCore(place: number): void;
  /**
   * Makes the system wake this thread from a sleep as soon as it can, not up to 50 µs later to wake
   * several threads at once. Does nothing on macOS.
   */
  fineTimers(): void;
  /** Name of the last call's error: `EAGAIN`, `ECONNRESET`, … */
  errno(): string;
  /** The address of a view's bytes; valid while the view's buffer lives. */
  address(view: Uint8Array): number;
}

/** F_DUPFD_CLOEXEC of fcntl.h, whose value differs between the systems. */
const DUPLICATE_CLOSE_ON_EXEC: Partial<Record<NodeJS.Platform, number>> = {
  linux: 1030,
  darwin: 67,
};
const ERRNO_NAMES = new Map(
  Object.entries(os.constants.errno).map(([name, value]) => [value as number, name]),
);
// Both systems have two names for this number; this is the usual one.
ERRNO_NAMES.set(os.constants.errno.EAGAIN, 'EAGAIN');

/** The value on Linux, the only system with such sockets (`tcp-listener.ts`). */
const SOL_SOCKET = 1;
const SO_SNDBUF = 7;

let loaded: Promise<Libc> | undefined;

/**
 * libc for this thread, loaded once.
 * @throws (rejects) GradwireError `NATIVE_UNAVAILABLE`
 */
export function loadLibc(): Promise<Libc> {
  loaded ??= bind();
  return loaded;
}

async function bind(): Promise<Libc> {
  const duplicateCommand = DUPLICATE_CLOSE_ON_EXEC[process.platform];
  if (duplicateCommand === undefined)
    throw unavailable(`not supported on ${process.platform}`);
  const koffi = await import('koffi').catch((cause: unknown) => {
    throw unavailable(`koffi cannot be loaded: ${firstLine(cause)}`);
  });
  try {
    const libc = bindTo(koffi, duplicateCommand);
    assertWorks(libc, koffi);
    return libc;
  } catch (cause) {
    throw unavailable(
      `koffi does not work with Node ${process.versions.node}: ${firstLine(cause)}`,
    );
  }
}

const firstLine = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).split('\n')[0]!;

/** @throws if koffi, on this Node, does not reach the memory that it is given */
function assertWorks(libc: Libc, koffi: typeof Koffi): void {
  const copy = koffi.load(null).func('intptr_t memcpy(uintptr_t, uintptr_t, size_t)');
  const shared = new Uint8Array(new SharedArrayBuffer(16), 4, 4);
  const text = Buffer.from('libc');
  copy(libc.address(shared), libc.address(text), text.length);
  if (Buffer.from(shared).toString() !== 'libc') {
    throw new Error('memory is not where it says');
  }
  const result = libc.recv(-1, libc.address(text), text.length);
  if (result !== -1 || libc.errno() !== 'EBADF') {
    throw new Error(`recv says ${result}, ${libc.errno()}`);
  }
}

function bindTo(koffi: typeof Koffi, duplicateCommand: number): Libc {
  const library = koffi.load(null);
  const recv = library.func('intptr_t recv(int, uintptr_t, size_t, int)');
  const readv = library.func('intptr_t readv(int, uintptr_t, int)');
  const writev = library.func('intptr_t writev(int, uintptr_t, int)');
  const setsockopt = library.func('int setsockopt(int, int, int, uintptr_t, uint32_t)');
  const integer = Buffer.alloc(4);
  const fcntl = library.func('int fcntl(int, int, ...)');
  const schedYield = library.func('int sched_yield()');
  const moveToCore = process.platform === 'linux' ? coreMover(library) : undefined;
  const fineTimers = process.platform === 'linux' ? timerRefiner(library) : undefined;
  const bases = new WeakMap<ArrayBufferLike, number>();

  const address = (view: Uint8Array): number => {
    const { buffer } = view;
    let base = bases.get(buffer);
    if (base === undefined) {
      // A view, because koffi takes a bare SharedArrayBuffer only on Node 24.9 and newer.
      base = Number(koffi.address(new Uint8Array(buffer)));
      bases.set(buffer, base);
    }
    return base + view.byteOffset;
  };
  return {
    recv: (descriptor, to, bytes) => recv(descriptor, to, bytes, 0) as number,
    readv,
    writev,
    duplicate: (descriptor) => fcntl(descriptor, duplicateCommand, 'int', 3) as number,
    setUnsentBytes: (descriptor, bytes) => {
      integer.writeInt32LE(bytes);
      setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, address(integer), integer.length);
    },
    yield: () => {
      schedYield();
    },
    moveToCore: (place) => {
      moveToCore?.(place);
    },
    fineTimers: () => {
      fineTimers?.();
    },
    errno: () => {
      const number = koffi.errno();
      return ERRNO_NAMES.get(number) ?? `errno ${number}`;
    },
    address,
  };
}

/** PR_SET_TIMERSLACK of prctl.h, in nanoseconds; 0 would restore the default. */
const SET_TIMER_SLACK = 29;

function timerRefiner(library: LibraryHandle): () => void {
  const prctl = library.func(
    'int prctl(int, unsigned long, unsigned long, unsigned long, unsigned long)',
  );
  return () => {
    prctl(SET_TIMER_SLACK, 1, 0, 0, 0);
  };
}

/** cpu_set_t is a bit mask; the call takes any size that covers the system's cores. */
const CORE_MASK_BYTES = 128;

function coreMover(library: LibraryHandle): (place: number) => void {
  const get = library.func(
    'int sched_getaffinity(int, size_t, _Out_ uint8_t *mask)',
  ) as (thread: number, bytes: number, mask: Buffer) => number;
  const set = library.func('int sched_setaffinity(int, size_t, const uint8_t *mask)');
  const allowed = Buffer.alloc(CORE_MASK_BYTES);
  const single = Buffer.alloc(CORE_MASK_BYTES);
  return (place) => {
    if (get(0, CORE_MASK_BYTES, allowed) < 0) return;
    let left = place;
    for (let core = 0; core < 8 * CORE_MASK_BYTES; core++) {
      const bit = 1 << (core & 7);
      if ((allowed[core >> 3]! & bit) === 0 || left-- > 0) continue;
      single.fill(0);
      single[core >> 3] = bit;
      set(0, CORE_MASK_BYTES, single);
      set(0, CORE_MASK_BYTES, allowed);
      return;
    }
  };
}

function unavailable(why: string): GradwireError {
  return failure(
    'NATIVE_UNAVAILABLE',
    `the native transport is not available: ${why}`,
    {
      next: 'Use transport tcp, or install the optional dependency koffi.',
    },
  );
}
