/**
 * How the bytes of a connection travel over an emulated link: cut into segments that say
 * when their last byte leaves the sender's card. Only the emulation sees them: no ledger
 * counts their headers.
 *
 *     | magic | length |  left at, ms (f64)  | bytes of the connection … |
 *     |  u32  |  u32   |         8 B         |          length           |
 *
 * The clock is the machine's own, the same for all processes on it.
 */
import { failure } from '../../shared/errors.ts';

export const SEGMENT_HEADER_BYTES = 16;
/** As much as leaves a socket at once on a system that lets the card cut packets. */
export const MOST_SEGMENT_BYTES = 64 * 2 ** 10;
const MAGIC = 0x57474c45;

export interface SegmentHeader {
  readonly length: number;
  readonly leftAt: number;
}

/** Into the first bytes of the segment. */
export function encodeSegmentHeader(
  segment: Buffer,
  { length, leftAt }: SegmentHeader,
): void {
  segment.writeUInt32LE(MAGIC, 0);
  segment.writeUInt32LE(length, 4);
  segment.writeDoubleLE(leftAt, 8);
}

/**
 * @param most bytes that a segment may have, the same on all ranks
 * @throws GradwireError `LINK_NOT_EMULATED`
 */
export function decodeSegmentHeader(bytes: Buffer, most: number): SegmentHeader {
  const length = bytes.readUInt32LE(4);
  const leftAt = bytes.readDoubleLE(8);
  const valid =
    bytes.readUInt32LE(0) === MAGIC &&
    length > 0 &&
    length <= most &&
    Number.isFinite(leftAt);
  if (valid) return { length, leftAt };
  throw failure(
    'LINK_NOT_EMULATED',
    'a peer sent bytes that no emulated link carries',
    {
      next: 'Give all ranks the same network, and deploy the same version on every node.',
    },
  );
}

/** Milliseconds since some moment that all processes of this machine share. */
export function machineClock(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
