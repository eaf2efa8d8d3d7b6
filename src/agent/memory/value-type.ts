/**
 * The types of value that vectors and streams are reduced in. Gradients are f32; f64 is
 * for what other programs bring. Indices are u32 beside either.
 */
export const VALUE_TYPES = ['f32', 'f64'] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

/** Bytes of a value. */
export type ValueBytes = 4 | 8;

export const valueBytesOf = (type: ValueType): ValueBytes => (type === 'f32' ? 4 : 8);
