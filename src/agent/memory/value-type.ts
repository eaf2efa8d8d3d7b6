/**
 * The value types of reductions. Gradients are f32; f64 is for other programs. Indices
 * are u32 with either.
 */
export const VALUE_TYPES = ['f32', 'f64'] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

/** Bytes of a value. */
export type ValueBytes = 4 | 8;

export const valueBytesOf = (type: ValueType): ValueBytes => (type === 'f32' ? 4 : 8);
