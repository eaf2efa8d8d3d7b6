/**
 * One method on one vector, one thread: the time of encode, error feedback included, with
 * residual and state before every call as after the first, so that each call finds the
 * same. What is restored is not timed. On a GPU the time is from host memory to host
 * memory, gradient and residual taken there included. Beside it what encode allocates, once it is warm,
 * and what decoding its first payload gives back.
 */
import { residualOf } from '../../src/agent/methods/method.ts';
import type { Payload } from '../../src/agent/memory/payload.ts';
import type { GradientBucket } from '../../src/agent/methods/bucket-compressor.ts';
import { findMethod, validateParameters } from '../../src/agent/methods/registry.ts';
import type { Vector } from '../../src/agent/memory/arena.ts';
import type { Backend } from '../../src/agent/codec/backend.ts';
import type { JsonObject } from '../../src/shared/checks/json.ts';
import { median } from '../quantiles.ts';
import type { BenchCase } from './cases.ts';

const CALLS = 7;
/** The calls before the timed ones: a run encodes thousands of times, with code that has been compiled. */
const WARM_UP = { ms: 150, calls: 1500 };

export interface EncodeTiming {
  readonly ms: number;
  readonly payloadBytes: number;
  /** ‖g − x‖ / ‖x‖ of what the payload decodes to, the residual being 0. */
  readonly relativeError: number;
  /** Cosine of the angle between the two. */
  readonly cosine: number;
  /** Bytes that a warm call takes: of the arena, and of the JavaScript heap. */
  readonly arenaBytes: number;
  readonly heapBytes: number;
}

/** The vectors of a backend, n elements each. `x` is only read. */
export interface Workbench extends Backend {
  readonly x: Vector;
  readonly gradient: Vector;
  readonly residual: Vector;
}

export async function timeEncode(
  bench: Workbench,
  { method: id, parameters, magnitudeOf }: BenchCase,
): Promise<EncodeTiming> {
  const { kernels, x, gradient, residual } = bench;
  const method = findMethod(id);
  const length = x.length;
  const checked = validateParameters(method, {
    ...parameters,
    ...(magnitudeOf && magnitudeParameter(bench, magnitudeOf)),
  });
  const context = {
    length,
    tensors: [{ name: 'x', start: 0, length, shape: matrixShape(length) }],
    parameters: checked,
    seed: 1,
    rank: 0,
    world: 1,
    bucket: 0,
    residual: residualOf(method, checked) === 'none' ? undefined : residual,
  };
  using compressor = bench.open(method, context, gradient);
  kernels.copy(gradient, x);
  kernels.fill(residual, 0);
  const first = await compressor.encode(0);
  const payloadBytes = first.data.bytes;
  const state = await compressor.save();
  const quality = await compareDecoded(bench, compressor, first);

  let iteration = 0;
  const call = async (): Promise<{ ms: number; heap: number }> => {
    kernels.copy(gradient, x);
    kernels.fill(residual, 0);
    compressor.restore(state);
    iteration++;
    const before = process.memoryUsage();
    const start = performance.now();
    const encoded = compressor.encode(iteration);
    if (encoded instanceof Promise) await encoded;
    const ms = performance.now() - start;
    const after = process.memoryUsage();
    const taken = (usage: NodeJS.MemoryUsage): number =>
      usage.heapUsed + usage.arrayBuffers;
    return { ms, heap: taken(after) - taken(before) };
  };
  const warm = performance.now() + WARM_UP.ms;
  do await call();
  while (performance.now() < warm && iteration < WARM_UP.calls);
  const free = nextFree(bench);
  const calls: Awaited<ReturnType<typeof call>>[] = [];
  while (calls.length < CALLS) calls.push(await call());
  return {
    ms: median(calls.map(({ ms }) => ms)),
    payloadBytes,
    ...quality,
    arenaBytes: nextFree(bench) - free,
    heapBytes: Math.max(0, median(calls.map(({ heap }) => heap))),
  };
}

async function compareDecoded(
  { kernels, x, gradient }: Workbench,
  compressor: GradientBucket,
  payload: Payload,
): Promise<{ relativeError: number; cosine: number }> {
  const { kind, data } = payload;
  await compressor.decode(
    kind === 'dense'
      ? { form: 'dense', data }
      : kind === 'sparse'
        ? { form: 'sparse', count: payload.count, data }
        : { form: 'gathered', payloads: [payload] },
    0,
  );
  const of = kernels.squaredNorm(x);
  const decoded = kernels.squaredNorm(gradient);
  const apart = kernels.squaredDistance(gradient, x);
  return {
    relativeError: Math.sqrt(apart / of),
    // ⟨a, b⟩ = (‖a‖² + ‖b‖² − ‖a − b‖²) / 2
    cosine: decoded === 0 ? 0 : (of + decoded - apart) / 2 / Math.sqrt(of * decoded),
  };
}

function magnitudeParameter(
  { arena, kernels, x }: Workbench,
  { parameter, ratio }: NonNullable<BenchCase['magnitudeOf']>,
): JsonObject {
  const count = Math.max(1, Math.round(ratio * x.length));
  const region = arena.allocate(8 * count);
  try {
    const { offset } = kernels.sparsification.selectTopK(x, count, region);
    const values = arena.f32({ offset: offset + 4 * count, length: count });
    return { [parameter]: values.reduce((m, v) => Math.min(m, Math.abs(v)), Infinity) };
  } finally {
    arena.release(region);
  }
}

/**
 * The offset where the arena would put something large: it moves when something is allocated. Twice,
 * as the first may join the free memory at the arena's end.
 */
function nextFree({ arena }: Workbench): number {
  arena.release(arena.allocate(1 << 16));
  const region = arena.allocate(1 << 16);
  arena.release(region);
  return region.offset;
}

/** A shape as near to a square as its divisors allow: what a method that factors finds. */
function matrixShape(n: number): readonly number[] {
  let rows = Math.floor(Math.sqrt(n));
  while (rows > 1 && n % rows !== 0) rows--;
  return [rows, n / rows];
}
