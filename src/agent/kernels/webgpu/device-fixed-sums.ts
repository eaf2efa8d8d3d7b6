/**
 * Sums in fixed point on the GPU (`kernels/fixed-point.ts`), with the CPU's bits: of
 * vectors, for the host, and of runs of a vector, for norms and means on the device.
 */
import { exponentOf, type FixedSums } from '../fixed-point.ts';
import { floatOf } from '../float-bits.ts';
import { runsOf } from '../quantization.ts';
import { ROWS_TILE } from '../wgsl/elementwise.ts';
import {
  CLASS_WORDS,
  elementsEach,
  runClassMaxima,
  runClassSums,
  runMeans,
  runNorms,
  runSquares,
  SQUARE_WORDS,
} from '../wgsl/fixed-point.ts';
import { raiseScales } from '../wgsl/quantization.ts';
import type { GpuDevice } from './gpu-device.ts';
import {
  sliceOf,
  windowsOf,
  wholeOf,
  type BufferRange,
  type GpuVector,
} from './gpu-vector.ts';

/** Length of a run that is longer than any vector. */
const WHOLE = 2 ** 30;
/** Runs of a piece. */
const PIECE_RUNS = 2 ** 20;
/** The largest magnitude, squares, sums by sign. */
const VECTOR_WORDS = 1 + SQUARE_WORDS + CLASS_WORDS;

/** Sums of a vector, and the largest magnitude, which sets their unit. */
export interface VectorSums extends FixedSums {
  readonly largest: number;
}

export class DeviceFixedSums implements Disposable {
  readonly #gpu: GpuDevice;
  /** Words of runs, or of vectors: the largest magnitudes, squares, sums by sign. */
  #largest: GPUBuffer;
  #squares: GPUBuffer;
  #classes: GPUBuffer;
  #answers: GPUBuffer;

  constructor(gpu: GpuDevice) {
    this.#gpu = gpu;
    this.#largest = gpu.allocate(4);
    this.#squares = gpu.allocate(4);
    this.#classes = gpu.allocate(4);
    this.#answers = gpu.allocate(4);
  }

  /** The sums of each of some vectors, in one round trip to the device. */
  async of(vectors: readonly GpuVector[]): Promise<VectorSums[]> {
    const { commands, ring } = this.#gpu;
    this.#answers = this.#reserve(this.#answers, VECTOR_WORDS * vectors.length);
    vectors.forEach((x, index) => {
      const largest = this.#clear('largest', 1);
      this.maxima(x, WHOLE, largest);
      const squares = this.#addSquares(x, WHOLE, largest);
      const classes = this.#addClasses(x, WHOLE, largest, 1);
      const at = 4 * VECTOR_WORDS * index;
      commands.copy(largest, this.#answers, at);
      commands.copy(squares, this.#answers, at + 4);
      commands.copy(classes, this.#answers, at + 4 * (1 + SQUARE_WORDS));
    });
    const words = new Uint32Array(VECTOR_WORDS * vectors.length);
    await ring.read(this.#answers, 0, new Uint8Array(words.buffer));
    return vectors.map(({ length }, index) => {
      const own = words.subarray(VECTOR_WORDS * index, VECTOR_WORDS * (index + 1));
      const largest = floatOf(own[0]!);
      return {
        count: length,
        exponent: exponentOf(largest),
        sum: integerOf(own.subarray(4, 6)) - integerOf(own.subarray(6, 8)),
        squares: integerOf(own.subarray(1, 4)),
        largest,
      };
    });
  }

  /** Enqueues the largest magnitudes of the runs of x. `maxima`: a word for each. */
  maxima(x: GpuVector, runLength: number, maxima: BufferRange): void {
    const { commands } = this.#gpu;
    commands.clear({ ...maxima, length: runsOf(x.length, runLength) });
    for (const { first, length, parts } of windowsOf([x])) {
      commands.dispatch(
        raiseScales,
        Math.ceil(length / ROWS_TILE),
        { x: parts[0], scales: maxima },
        { length, first, runLength },
      );
    }
  }

  /** Enqueues the norms of the runs of x. `norms`: a word for each. */
  norms(x: GpuVector, runLength: number, norms: BufferRange): void {
    for (const { piece, run } of piecesOf(x, runLength)) {
      const runs = runsOf(piece.length, runLength);
      const largest = this.#clear('largest', runs);
      this.maxima(piece, runLength, largest);
      const squares = this.#addSquares(piece, runLength, largest);
      this.#gpu.commands.dispatch(
        runNorms,
        Math.ceil(runs / ROWS_TILE),
        { largest, squares, scales: wordsOf(norms, run, runs) },
        { length: runs },
      );
    }
  }

  /** Enqueues the means by sign of the runs of x. `means`: two words for each. */
  signMeans(x: GpuVector, runLength: number, means: BufferRange): void {
    for (const { piece, run } of piecesOf(x, runLength)) {
      const runs = runsOf(piece.length, runLength);
      const largest = this.#clear('largest', 2 * runs);
      for (const { first, length, parts } of windowsOf([piece])) {
        this.#gpu.commands.dispatch(
          runClassMaxima,
          workgroupsOf(length, runLength),
          { x: parts[0], largest },
          { length, first, runLength, each: elementsEach(runLength) },
        );
      }
      const sums = this.#addClasses(piece, runLength, largest, 2);
      this.#gpu.commands.dispatch(
        runMeans,
        Math.ceil(runs / ROWS_TILE),
        { largest, sums, means: wordsOf(means, 2 * run, 2 * runs) },
        { length: runs, runLength, total: piece.length },
      );
    }
  }

  [Symbol.dispose](): void {
    this.#gpu.destroy(this.#largest, this.#squares, this.#classes, this.#answers);
  }

  #addSquares(x: GpuVector, runLength: number, largest: BufferRange): BufferRange {
    const squares = this.#clear('squares', SQUARE_WORDS * runsOf(x.length, runLength));
    for (const { first, length, parts } of windowsOf([x])) {
      this.#gpu.commands.dispatch(
        runSquares,
        workgroupsOf(length, runLength),
        { x: parts[0], largest, squares },
        { length, first, runLength, each: elementsEach(runLength) },
      );
    }
    return squares;
  }

  #addClasses(
    x: GpuVector,
    runLength: number,
    largest: BufferRange,
    stride: 1 | 2,
  ): BufferRange {
    const sums = this.#clear('classes', CLASS_WORDS * runsOf(x.length, runLength));
    for (const { first, length, parts } of windowsOf([x])) {
      this.#gpu.commands.dispatch(
        runClassSums,
        workgroupsOf(length, runLength),
        { x: parts[0], largest, sums },
        { length, first, runLength, each: elementsEach(runLength), stride },
      );
    }
    return sums;
  }

  /** Returns a buffer of `words` zeros, at least one. */
  #clear(name: 'largest' | 'squares' | 'classes', words: number): BufferRange {
    const length = Math.max(1, words);
    let buffer: GPUBuffer;
    switch (name) {
      case 'largest':
        buffer = this.#largest = this.#reserve(this.#largest, length);
        break;
      case 'squares':
        buffer = this.#squares = this.#reserve(this.#squares, length);
        break;
      case 'classes':
        buffer = this.#classes = this.#reserve(this.#classes, length);
        break;
    }
    const part = { ...wholeOf(buffer), length };
    this.#gpu.commands.clear(part);
    return part;
  }

  #reserve(buffer: GPUBuffer, words: number): GPUBuffer {
    if (buffer.size >= 4 * words) return buffer;
    this.#gpu.destroy(buffer);
    return this.#gpu.allocate(4 * words);
  }
}

/**
 * Pieces of whole runs of x, limited so that their words stay few; `run` is the first of
 * a piece. If an invocation has only one element, a piece has no more than one dispatch
 * can process.
 */
function* piecesOf(
  x: GpuVector,
  runLength: number,
): Generator<{ readonly piece: GpuVector; readonly run: number }> {
  const elements = runLength * PIECE_RUNS;
  for (let start = 0; start < x.length; start += elements) {
    const piece = sliceOf(x, start, Math.min(elements, x.length - start));
    yield { piece, run: start / runLength };
  }
}

function wordsOf(
  { buffer, offset }: BufferRange,
  first: number,
  length: number,
): BufferRange {
  return { buffer, offset: offset + 4 * first, length };
}

const workgroupsOf = (length: number, runLength: number): number =>
  Math.ceil(length / (256 * elementsEach(runLength)));

/** Words, the lowest first. */
function integerOf(words: Uint32Array): bigint {
  return words.reduceRight((value, word) => (value << 32n) | BigInt(word), 0n);
}
