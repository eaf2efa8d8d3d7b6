/**
 * The bits of a number as f32, and back: magnitudes are ordered by them, and parameters
 * carry them.
 */
const floats = new Float32Array(1);
const words = new Uint32Array(floats.buffer);

/** The bits of a number, rounded to f32. */
export function bitsOf(value: number): number {
  floats[0] = value;
  return words[0]!;
}

/** The f32 of these bits. */
export function floatOf(bits: number): number {
  words[0] = bits;
  return floats[0]!;
}
