/** What kernel threads promise beside results: they come, they go, and they do not hang. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { Arena } from '../../../src/agent/memory/arena.ts';
import { JobBoard, SLICE } from '../../../src/agent/kernels/wasm/job-board.ts';
import { SHARED_LENGTH } from '../../../src/agent/kernels/wasm/kernel-pool.ts';
import { startWasmKernels } from '../../../src/agent/kernels/wasm/load.ts';
import { WasmKernels } from '../../../src/agent/kernels/wasm/wasm-kernels.ts';
import { backends, bytes } from './backends.ts';
import { countsThreads, kernelThreads } from './thread-names.ts';
import { threaded, waitUntil } from './threaded.ts';

it.runIf(countsThreads)('one thread costs no memory and no thread', async () => {
  const plain = new Arena();
  const arena = new Arena();
  const { kernels, close } = startWasmKernels(arena, { threads: 1 });
  expect(kernelThreads()).toBe(0);
  expect(arena.allocate(16)).toEqual(plain.allocate(16));
  expect(kernels).toBeInstanceOf(WasmKernels);
  await close();
});

it.runIf(countsThreads)('short vectors start no thread', async () => {
  const longest = SHARED_LENGTH - 1;
  const { close } = startWasmKernels(new Arena(), { threads: 3, longest });
  expect(kernelThreads()).toBe(0);
  await close();
});

it('every thread takes slices, and none is taken twice', async () => {
  const { backend, pool, slicesOfOthers } = threaded(3);
  const x = backend.put(new Float32Array(9 * SLICE));
  backend.kernels.fill(x, 1);
  backend.kernels.add(x, x);
  expect(slicesOfOthers()).toBeGreaterThanOrEqual(2);
  expect(backend.get(x).every((value) => value === 2)).toBe(true);
  await pool.close();
});

it('vectors that overlap give what they give on one thread', async () => {
  const { backend, pool, slicesOfOthers } = threaded(2);
  const n = SHARED_LENGTH + 5;
  const values = Float32Array.from({ length: n + 16 }, (_, i) => i % 1000);
  const bits = [backends.wasm(), backend].map(({ arena, kernels }) => {
    const { offset } = arena.allocateVector(n + 16);
    const whole = { offset, length: n + 16 };
    arena.f32(whole).set(values);
    const [low, high] = [0, 64].map((at) => ({ offset: offset + at, length: n }));
    kernels.copy(high!, low!);
    kernels.add(low!, high!);
    kernels.blend(high!, 0.5, low!, 0.25);
    kernels.reduction.combine('max', low!, high!);
    return bytes(arena.f32(whole).slice());
  });
  expect(Buffer.compare(bits[0]!, bits[1]!)).toBe(0);
  expect(slicesOfOthers()).toBe(0);
  await pool.close();
});

it('work is done by the caller where no other thread has come yet', async () => {
  const arena = new Arena();
  const { kernels, close } = startWasmKernels(arena, { threads: 3 });
  const x = arena.allocateVector(SHARED_LENGTH);
  kernels.fill(x, 2);
  expect(kernels.squaredNorm(x)).toBe(4 * SHARED_LENGTH);
  await close();
});

it.runIf(countsThreads)('closing ends the threads', async () => {
  const { backend, pool } = threaded(3);
  await expect.poll(kernelThreads).toBe(2);
  const x = backend.put(new Float32Array(SHARED_LENGTH));
  backend.kernels.fill(x, 1);
  await pool.close();
  expect(kernelThreads()).toBe(0);
});

it('closing gives memory back, and ends calls', async () => {
  const arena = new Arena();
  const plain = new Arena().allocate(16);
  const { kernels, close } = startWasmKernels(arena, { threads: 2 });
  // Takes memory of each thread's own.
  const none = { offset: 0, bytes: 0 };
  kernels.quantization.largestLevel(none, 0, 1);
  await close();
  expect(arena.allocate(16)).toEqual(plain);
  await close();
  const x = arena.allocateVector(SHARED_LENGTH);
  expect(() => {
    kernels.fill(x, 0);
  }).toThrow('internal: the kernel threads are closed');
});

it('a kernel that traps on a thread is a coded error, then and ever after', async () => {
  const { backend, pool } = threaded(2, (board) => {
    waitUntil(() => board.failed === 1);
    return false;
  });
  const { arena, kernels } = backend;
  const x = { offset: arena.buffer.byteLength, length: SHARED_LENGTH };
  const lost = expect.objectContaining({
    code: 'KERNEL_THREAD_LOST',
    next: expect.stringContaining('one thread'),
  });
  for (let call = 0; call < 2; call++) {
    expect(() => kernels.squaredNorm(x)).toThrow(lost);
  }
  await pool.close();
});

it('a thread that does not end its slice is distinguished from one that does', () => {
  const arena = new Arena();
  const { offset } = arena.allocate(JobBoard.bytes);
  const board = new JobBoard(arena.memory, offset);
  board.clear();
  board.begin('add', SLICE, SLICE).open(0);
  expect(board.close(1)).toBe(true);
  const words = new Int32Array(arena.buffer, offset, 32);
  const active = 16;
  Atomics.add(words, active, 1);
  expect(board.active).toBe(1);
  board.begin('add', SLICE, SLICE).open(0);
  expect(board.close(1)).toBe(false);
});

it('keeps no process alive', async () => {
  const load = new URL('../../../src/agent/kernels/wasm/load.ts', import.meta.url);
  const arena = new URL('../../../src/agent/memory/arena.ts', import.meta.url);
  const script = `
    import { startWasmKernels } from '${load.href}';
    import { Arena } from '${arena.href}';
    const arena = new Arena();
    const { kernels } = startWasmKernels(arena, { threads: 3 });
    const x = arena.allocateVector(1e6);
    kernels.fill(x, 1);
    console.log(kernels.squaredNorm(x));
  `;
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', script],
    { timeout: 10_000 },
  );
  expect(stdout).toBe('1000000\n');
  expect(stderr).toBe('');
});
