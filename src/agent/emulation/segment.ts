/**
 * The format of a connection's bytes on an emulated link: segments that state when their
 * last byte leaves the sender's card, and when they were written to the socket. Only the
 * emulation sees them; no ledger counts their headers.
 *
 *     | magic | length | left at, ms | put at, ms | bytes of the connection … |
 *     |  u32  |  u32   |     f64     |    f64     |          length           |
 *
 * The clock is the sender's machine's, the same for all processes on it.
 */
import { failure } from '../../shared/errors/errors.ts';

export const SEGMENT_HEADER_BYTES = 24;
/** The amount that leaves a socket at once on a system with segmentation offload. */
export const MOST_SEGMENT_BYTES = 64 * 2 ** 10;
const MAGIC = 0x57474c45;

export interface SegmentHeader {
  readonly length: number;
  readonly leftAt: number;
  readonly putAt: number;
}

/** Writes the header into the first bytes of the segment. */
export function encodeSegmentHeader(
  segment: Buffer,
  { length, leftAt, putAt }: SegmentHeader,
): void {
  segment.writeUInt32LE(MAGIC, 0);
  segment.writeUInt32LE(length, 4);
  segment.writeDoubleLE(leftAt, 8);
  segment.writeDoubleLE(putAt, 16);
}

/**
 * @param most bytes that a segment may have, the same on all ranks
 * @throws GradwireError `LINK_NOT_EMULATED`
 */
export function decodeSegmentHeader(bytes: Buffer, most: number): SegmentHeader {
  const length = bytes.readUInt32LE(4);
  const leftAt = bytes.readDoubleLE(8);
  const putAt = bytes.readDoubleLE(16);
  const valid =
    bytes.readUInt32LE(0) === MAGIC &&
    length > 0 &&
    length <= most &&
    Number.isFinite(leftAt) &&
    Number.isFinite(putAt);
  if (valid) return { length, leftAt, putAt };
  throw failure(
    'LINK_NOT_EMULATED',
    'a peer sent bytes that are not from an emulated link',
    {
      next: 'Set the same network for all ranks, and deploy the same version on every machine.',
    },
  );
}

/** Milliseconds since some moment that all processes of this machine share. */
export function machineClock(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
