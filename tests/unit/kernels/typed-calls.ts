/**
 * Calls of exports that must not compile, and those that must: checked by the compiler,
 * which refuses an expected error that is none. Nothing here is run.
 */
import type {
  At,
  Elements,
  KernelExports,
  Of,
  SlicedCalls,
  Stream,
} from '../../../src/agent/kernels/wasm/kernel-exports.ts';
import type { KernelPool } from '../../../src/agent/kernels/wasm/kernel-pool.ts';

interface Numbers {
  readonly bits: Of<'bits'>;
  readonly runLength: Of<'runLength'>;
  readonly first: Of<'first'>;
  readonly tiles: Of<'tiles'>;
}

export function elementwise(
  run: SlicedCalls,
  out: Elements<'out'>,
  x: Elements<'x'>,
): void {
  run.add(out.offset, x.offset, x.length);
  // @ts-expect-error the vector that is read is written
  run.add(x.offset, out.offset, x.length);
  // @ts-expect-error the length comes last
  run.add(out.offset, x.length, x.offset);
  // @ts-expect-error a plain number is no address
  run.add(65_536, x.offset, x.length);
  // @ts-expect-error nor is it a length
  run.add(out.offset, x.offset, 100);
  // @ts-expect-error an argument is missing
  run.add(out.offset, x.offset);
  // @ts-expect-error there is one too many
  run.add(out.offset, x.offset, x.length, 0);

  run.fill(out.offset, out.length, 0.5);
  // @ts-expect-error the value comes last
  run.fill(out.offset, 0.5, out.length);
  // @ts-expect-error an address is no value
  run.fill(out.offset, out.length, x.offset);

  run.blend(out.offset, 0.5, x.offset, 0.25, x.length);
  // @ts-expect-error each vector has its factor behind it
  run.blend(out.offset, x.offset, 0.5, 0.25, x.length);

  run.combine(1, out.offset, x.offset, x.length);
  // @ts-expect-error the operation comes first
  run.combine(out.offset, x.offset, x.length, 1);

  const sum: number = run.squaredNorm(x.offset, x.length);
  // @ts-expect-error nothing is returned
  const nothing: number = run.scale(out.offset, out.length, sum);
  void nothing;
}

export function quantisation(
  run: SlicedCalls,
  { offset: out, length: n }: Elements<'out'>,
  { offset: scales }: At<'scales'>,
  { offset: codes }: At<'codes'>,
  { bits, runLength, tiles }: Numbers,
): void {
  run.dequantize(out, n, 7, bits, runLength, scales, codes, 0, tiles);
  // @ts-expect-error scales come before codes
  run.dequantize(out, n, 7, bits, runLength, codes, scales, 0, tiles);
  // @ts-expect-error bits come before the run's length
  run.dequantize(out, n, 7, runLength, bits, scales, codes, 0, tiles);
  // @ts-expect-error levels come before bits
  run.dequantize(out, n, bits, 7, runLength, scales, codes, 0, tiles);
  // @ts-expect-error tiles are memory of the thread's, not of the vector
  run.dequantize(out, n, 7, bits, runLength, scales, codes, 0, codes);
}

export function selection(
  run: SlicedCalls,
  { offset: x, length: n }: Elements<'x'>,
  indices: Of<'indices'>,
  values: Of<'values'>,
  tally: Of<'tally'>,
  { first }: Numbers,
): void {
  run.compactSlice(x, n, 5, first, tally, indices, values);
  // @ts-expect-error the threshold comes before the first index
  run.compactSlice(x, n, first, 5, tally, indices, values);
  // @ts-expect-error indices come before values
  run.compactSlice(x, n, 5, first, tally, values, indices);
  run.placeSlices(tally, n, indices, values);
  // @ts-expect-error records are what is cut
  run.placeSlices(indices, n, tally, values);
}

export function streams(
  run: KernelExports,
  pool: KernelPool,
  out: Elements<'out'>,
  { offset, count }: Stream,
): void {
  run.clearAt(out.offset, out.length, offset, count);
  // @ts-expect-error the vector comes before the stream
  run.clearAt(offset, count, out.offset, out.length);
  // @ts-expect-error a vector's length is no stream's
  run.clearAt(out.offset, out.length, offset, out.length);
  // @ts-expect-error it is called once, not by slices
  pool.sliced.clearAt(out.offset, out.length, offset, count);
  // @ts-expect-error there is no such export
  run.clear(out.offset, out.length);
}
