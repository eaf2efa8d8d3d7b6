/** `toEqual` compares typed arrays element by element, a second for a million; equal bytes take no time. */
import { expect } from 'vitest';

function haveEqualBytes(a: unknown, b: unknown): true | undefined {
  if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b)) return undefined;
  if (a.constructor !== b.constructor || a.byteLength !== b.byteLength)
    return undefined;
  const bytes = (view: ArrayBufferView): Buffer =>
    Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  // Otherwise Vitest compares, and shows what differs.
  return bytes(a).equals(bytes(b)) || undefined;
}

expect.addEqualityTesters([haveEqualBytes]);
