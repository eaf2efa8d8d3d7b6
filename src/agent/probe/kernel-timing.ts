/**
 * γ: the kernels' time per element or entry on this machine, with one thread per rank
 * while all ranks compute. If ranks share cores they share them here, too, so batches
 * longer than a scheduler's slice are timed, and calls averaged. Vectors are larger than a
 * cache and indices are random, as in a gradient. Takes about half a second.
 */
import type { NetworkProfile } from '../../shared/cost-model/network-profile.ts';
import { median } from '../../shared/numbers/quantile.ts';
import type { Arena, Region, Vector } from '../memory/arena.ts';
import { sparseBytes, type SparseStream } from '../memory/entries.ts';
import type { Kernels } from '../kernels/kernels.ts';
import { codeBits, packedBytes, runsOf } from '../kernels/quantization.ts';
import { CounterRandom } from '../kernels/random.ts';

export type KernelTimings = NetworkProfile['kernels'];

const ELEMENTS = 2 ** 20;
const ENTRIES = ELEMENTS / 64;
/** Number of batches per median, and their length. */
const BATCHES = 3;
const BATCH_MS = 15;
const MOST_CALLS = 1000;
const QUANTIZER = { levels: 7, runLength: 512 } as const;

/** @param meet a barrier, so that all ranks compute at the same time */
export async function timeKernels(
  arena: Arena,
  kernels: Kernels,
  meet: () => Promise<unknown>,
): Promise<KernelTimings> {
  const { reduction, quantization } = kernels;
  const x = arena.allocateVector(ELEMENTS);
  const y = arena.allocateVector(ELEMENTS);
  fillRandom(arena, x, 1);
  // The same numbers reversed, because drawing new ones would take as long as
  // measuring.
  arena.f32(y).set(arena.f32(x));
  arena.f32(y).reverse();
  const a = randomStream(arena, 0);
  const b = randomStream(arena, 1);
  const room = arena.allocate(sparseBytes(2 * ENTRIES));
  const scales = arena.allocateVector(runsOf(ELEMENTS, QUANTIZER.runLength));
  const codes = arena.allocate(packedBytes(ELEMENTS, codeBits(QUANTIZER.levels)));
  try {
    await meet();
    return {
      add: perItem(ELEMENTS, () => {
        reduction.combine('sum', y, x);
      }),
      merge: perItem(2 * ENTRIES, () => {
        reduction.merge('sum', a.stream, b.stream, room);
      }),
      scatter: perItem(ENTRIES, () => {
        reduction.scatter('sum', y, 0, a.stream);
      }),
      select: perItem(ELEMENTS, () => {
        kernels.sparsification.selectTopK(x, Math.floor(ELEMENTS / 100), room);
      }),
      quantize: perItem(ELEMENTS, () => {
        quantization.quantize(x, QUANTIZER, 'max', { seed: 1 }, scales, codes);
      }),
      dequantize: perItem(ELEMENTS, () => {
        quantization.dequantize(y, QUANTIZER, scales, codes, false);
      }),
    };
  } finally {
    for (const vector of [x, y, scales]) arena.release(vector);
    for (const region of [a.region, b.region, room, codes]) arena.release(region);
  }
}

/** Seconds per item; the first call is a warm-up. */
function perItem(items: number, work: () => void): number {
  work();
  const means: number[] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    const start = performance.now();
    let calls = 0;
    do {
      work();
      calls++;
    } while (performance.now() - start < BATCH_MS && calls < MOST_CALLS);
    means.push((performance.now() - start) / 1000 / calls);
  }
  return median(means)! / items;
}

function fillRandom(arena: Arena, vector: Vector, seed: number): void {
  const random = new CounterRandom({ seed });
  const values = arena.f32(vector);
  for (let i = 0; i < values.length; i++) {
    // The difference of two uniforms, so that kernels do not see constants.
    values[i] = random.uniform(2 * i) - random.uniform(2 * i + 1);
  }
}

/** One entry at a random place of each run of 64 elements. */
function randomStream(
  arena: Arena,
  rank: number,
): { readonly region: Region; readonly stream: SparseStream } {
  const random = new CounterRandom({ seed: 3, rank });
  const region = arena.allocate(sparseBytes(ENTRIES));
  const { offset } = region;
  const indices = arena.u32(offset, ENTRIES);
  const run = ELEMENTS / ENTRIES;
  for (let entry = 0; entry < ENTRIES; entry++) {
    indices[entry] = entry * run + Math.floor(random.uniform(entry) * run);
  }
  arena.f32({ offset: offset + 4 * ENTRIES, length: ENTRIES }).fill(1);
  return { region, stream: { offset, count: ENTRIES } };
}
