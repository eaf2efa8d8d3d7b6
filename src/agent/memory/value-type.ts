/**
 * The value types of reductions. Gradients are f32; f64 is for other programs. Indices
 * are u32 with either.
 */
export const VALUE_TYPES = ['f32', 'f64'] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

/** Types of 16 bits, in which a method may send dense vectors to be summed. */
export const HALF_TYPES = ['bfloat16', 'binary16'] as const;
export type HalfType = (typeof HALF_TYPES)[number];

/** Bytes of a value. */
export type ValueBytes = 2 | 4 | 8;

const BYTES = { bfloat16: 2, binary16: 2, f32: 4, f64: 8 } as const;

export const valueBytesOf = <T extends ValueType | HalfType>(
  type: T,
): (typeof BYTES)[T] => BYTES[type];
