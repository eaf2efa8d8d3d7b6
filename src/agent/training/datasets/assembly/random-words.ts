/**
 * `runtime/random-sequence.ts` in WebAssembly: a named sequence read in order, word by word.
 */
import {
  drawEightBlocks,
  drawWord,
  nameStream,
} from '../../../kernels/wasm/assembly/philox';

const BLOCKS = 8;
const WORDS = 4 * BLOCKS;
const buffer = memory.data(4 * WORDS, 16);
let block: u32 = 0;
let next: u32 = WORDS;

const ROOT_3 = Math.sqrt(3);

/** Begin the stream of a sample. */
export function beginStream(seed: u32, sample: u32, purpose: u32): void {
  nameStream(seed, 0, 0, sample, purpose);
  block = 0;
  next = WORDS;
}

/** The first word of a stream of which no more is read. */
export function onlyWord(seed: u32, sample: u32, purpose: u32): u32 {
  nameStream(seed, 0, 0, sample, purpose);
  return drawWord(0, 0);
}

export function word(): u32 {
  if (next == WORDS) {
    drawEightBlocks(block, buffer);
    block += BLOCKS;
    next = 0;
  }
  return load<u32>(buffer + 4 * next++);
}

/** A word as a number in [0, 1), a multiple of 2⁻³². */
export function asUniform(bits: u32): f64 {
  return <f64>bits * (1.0 / 4294967296.0);
}

export function uniform(): f64 {
  return asUniform(word());
}

/** Uniform in [low, high). */
export function between(low: f64, high: f64): f64 {
  return low + (high - low) * uniform();
}

/** Bell-shaped, mean 0, deviation 1: the sum of four uniforms. */
export function bell(): f64 {
  const sum = uniform() + uniform() + uniform() + uniform();
  return (sum - 2) * ROOT_3;
}
