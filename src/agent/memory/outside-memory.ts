/**
 * Vectors outside of the arena, for gradients and residuals that do not fit it. The memory is a
 * WebAssembly memory with addresses of 64 bits: shared by threads, zero, taken from the system as it
 * is touched, and at the beginning of a page, so that a program can share its pages.
 */

const PAGE = 65_536;

/** @returns `length` zeros, shared by threads */
export function outsideVector(length: number): Float32Array<SharedArrayBuffer> {
  const pages = BigInt(Math.max(1, Math.ceil((4 * length) / PAGE)));
  const descriptor = { address: 'i64', initial: pages, maximum: pages, shared: true };
  // TypeScript's declarations know 32-bit memories alone.
  const memory = new WebAssembly.Memory(
    descriptor as unknown as WebAssembly.MemoryDescriptor,
  );
  return new Float32Array(memory.buffer as unknown as SharedArrayBuffer, 0, length);
}
