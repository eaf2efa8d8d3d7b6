/** Typed arrays that a program gives, also those made in another context of V8. */
import { z } from 'zod';

/** `Uint8Array`, whichever context's it is. */
export const kindOf = (values: unknown): string =>
  Object.prototype.toString.call(values).slice(8, -1);

export const bytesSchema = z.custom<Uint8Array>(
  (value) => kindOf(value) === 'Uint8Array',
  'expected a Uint8Array',
);

export const floatsSchema = z.custom<Float32Array>(
  (value) => kindOf(value) === 'Float32Array',
  'expected a Float32Array',
);
