/**
 * Memory of messages that no receive expects yet, used again and again by all connections of a thread. A
 * buffer is outside of V8's heap, but counts: after some megabytes of new ones V8 looks for garbage in all of the
 * heap, which took a rank 7 % of its processor time with a gradient of 60 MB.
 */

/** Bytes of a buffer. */
export const SPARE_BYTES = 256 * 2 ** 10;
/** The most that are kept, 64 MiB: half of a bucket may come early, from a rank that is ahead. */
const MOST_SPARES = 256;

const spares: Buffer[] = [];

/** A buffer, whatever is in it. */
export const takeSpare = (): Buffer =>
  spares.pop() ?? Buffer.allocUnsafeSlow(SPARE_BYTES);

/** Takes a buffer back, which nothing may use any longer. */
export function giveBack(buffer: Buffer): void {
  if (spares.length < MOST_SPARES) spares.push(buffer);
}
