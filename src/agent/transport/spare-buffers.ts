/**
 * Memory of messages that no receive expects yet, used again and again by the native connections of a thread whose
 * bytes are neither encrypted nor emulated. A buffer is outside of V8's heap, but counts: after some megabytes of new ones V8
 * looks for garbage in all of the heap. With a gradient of 60 MB that was a tenth of what two ranks of a PyTorch program,
 * the program included, took of their processors.
 */

/** Bytes of a buffer. */
export const SPARE_BYTES = 256 * 2 ** 10;
/**
 * The most that are kept, 64 MiB. From a rank that is ahead, half of a dense bucket may come early; PyTorch’s may have
 * the size of a model’s largest tensor.
 */
const MOST_SPARES = 256;

const spares: Buffer[] = [];

/** A buffer, whatever is in it. */
export const takeSpare = (): Buffer =>
  spares.pop() ?? Buffer.allocUnsafeSlow(SPARE_BYTES);

/** Takes a buffer back, which nothing may use any longer. */
export function giveBack(buffer: Buffer): void {
  if (spares.length < MOST_SPARES) spares.push(buffer);
}
