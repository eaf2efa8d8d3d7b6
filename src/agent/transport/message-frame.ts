/**
 * The frame of the data plane: a 32-byte little-endian header, then `length` bytes.
 *
 *     0       2   3   4       8         12      16          18      20        24
 *   | magic | v | k | stream | sequence | epoch | operation | dtype | 0 (u32) | length |
 *   |  u16  |u8 |u8 |  u32   |   u32    |  u32  |    u16    |  u16  |         |  u64   |
 *
 * It carries everything that two ranks must agree on (MPI's envelope and more), so that
 * ranks that took different branches find out at the first frame. Pure: no sockets.
 */
import {
  failure,
  GradwireError,
  isErrorData,
  type ErrorData,
} from '../../shared/errors/errors.ts';
import { BUG } from '../../shared/errors/report-advice.ts';
import type { MessageHeader } from './transport.ts';

export const FRAME_HEADER_BYTES = 32;
const FRAME_VERSION = 1;
const FRAME_MAGIC = 0x5747;

const FRAME_KINDS = { data: 1, abort: 2 } as const;
export type FrameKind = keyof typeof FRAME_KINDS;

/** The largest message: as much as one 32-bit arena can hold. */
export const MAX_DATA_BYTES = 2 ** 32;
/** The largest reason that an abort frame carries. */
export const MAX_ABORT_BYTES = 16 * 2 ** 10;
/**
 * The most characters of each of its texts, which fit even if JSON escapes all of them.
 */
const MAX_TEXT = 800;

export interface FrameHeader extends MessageHeader {
  readonly kind: FrameKind;
  /** Bytes after the header. */
  readonly length: number;
}

const CONTROL: MessageHeader = {
  stream: 0,
  sequence: 0,
  epoch: 0,
  operation: 0,
  dtype: 0,
};

/** Write the header to the first 32 bytes of `out`. */
export function encodeFrameHeader(
  out: Buffer,
  kind: FrameKind,
  header: MessageHeader,
  length: number,
): void {
  out.writeUInt16LE(FRAME_MAGIC, 0);
  out.writeUInt8(FRAME_VERSION, 2);
  out.writeUInt8(FRAME_KINDS[kind], 3);
  out.writeUInt32LE(header.stream, 4);
  out.writeUInt32LE(header.sequence, 8);
  out.writeUInt32LE(header.epoch, 12);
  out.writeUInt16LE(header.operation, 16);
  out.writeUInt16LE(header.dtype, 18);
  out.writeUInt32LE(0, 20);
  out.writeUInt32LE(length >>> 0, 24);
  out.writeUInt32LE(Math.floor(length / 2 ** 32), 28);
}

/**
 * Read a header of 32 bytes.
 * @throws GradwireError `FRAME_INVALID`, `FRAME_VERSION_MISMATCH`, `FRAME_TOO_LARGE`
 */
export function decodeFrameHeader(bytes: Buffer): FrameHeader {
  const magic = bytes.readUInt16LE(0);
  if (magic !== FRAME_MAGIC) {
    throw invalid(`starts with 0x${magic.toString(16).padStart(4, '0')}`);
  }
  const version = bytes.readUInt8(2);
  if (version !== FRAME_VERSION) {
    throw failure(
      'FRAME_VERSION_MISMATCH',
      `a frame has version ${version}, but this rank speaks ${FRAME_VERSION}`,
      { next: 'Deploy the same version of the agent on every machine.' },
    );
  }
  const code = bytes.readUInt8(3);
  const kind = kindOf(code);
  if (kind === undefined) throw invalid(`is of unknown kind ${code}`);
  if (bytes.readUInt32LE(20) !== 0) throw invalid('has reserved bits set');
  const length = bytes.readUInt32LE(28) * 2 ** 32 + bytes.readUInt32LE(24);
  const limit = kind === 'data' ? MAX_DATA_BYTES : MAX_ABORT_BYTES;
  if (length > limit) {
    throw failure('FRAME_TOO_LARGE', `a ${kind} frame announces ${length} bytes`, {
      next: `The limit is ${limit} bytes. Deploy the same version on every machine.`,
    });
  }
  return {
    kind,
    length,
    stream: bytes.readUInt32LE(4),
    sequence: bytes.readUInt32LE(8),
    epoch: bytes.readUInt32LE(12),
    operation: bytes.readUInt16LE(16),
    dtype: bytes.readUInt16LE(18),
  };
}

/** A whole abort frame that tells a peer why. Long texts are truncated. */
export function encodeAbortFrame(error: ErrorData): Buffer {
  const cut = (text: string): string => text.slice(0, MAX_TEXT);
  const reason: ErrorData = {
    code: error.code.slice(0, 64),
    kind: error.kind,
    message: cut(error.message),
    ...(error.place === undefined ? {} : { place: cut(error.place) }),
    ...(error.next === undefined ? {} : { next: cut(error.next) }),
    ...(error.rank === undefined ? {} : { rank: error.rank }),
  };
  const body = Buffer.from(JSON.stringify(reason));
  if (body.length > MAX_ABORT_BYTES) throw new Error('internal: abort frame too long');
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + body.length);
  encodeFrameHeader(frame, 'abort', CONTROL, body.length);
  frame.set(body, FRAME_HEADER_BYTES);
  return frame;
}

/** @throws GradwireError `FRAME_INVALID` */
export function decodeAbortBody(body: Buffer): GradwireError {
  let reason: unknown;
  try {
    reason = JSON.parse(body.toString());
  } catch (cause) {
    throw invalid(`carries a reason that is not JSON: ${String(cause)}`);
  }
  if (!isErrorData(reason)) throw invalid('carries a reason without code and message');
  const text = (value: unknown): string | undefined =>
    typeof value === 'string' ? value : undefined;
  return new GradwireError({
    code: reason.code,
    kind: reason.kind === 'input' ? 'input' : 'failure',
    message: reason.message,
    place: text(reason.place),
    next: text(reason.next),
    rank: Number.isInteger(reason.rank) ? reason.rank : undefined,
  });
}

function kindOf(code: number): FrameKind | undefined {
  if (code === FRAME_KINDS.data) return 'data';
  if (code === FRAME_KINDS.abort) return 'abort';
  return undefined;
}

function invalid(what: string): GradwireError {
  return failure('FRAME_INVALID', `a frame from a peer ${what}`, {
    next: BUG,
  });
}
