/**
 * The bytes around columns, compressed with deflate, which every Node and Electron has; zstd
 * makes them no smaller, because what is left is noise of clocks.
 *
 *   version (1) · CRC-32 of what follows unpacked · deflate of
 *     { u32 length · JSON of the head · columns }
 */
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';

const VERSION = 1;
const HEAD_BYTES = 5;
const LENGTH_BYTES = 4;

/** @param parts the columns, in the order in which the head names them */
export function packColumns(head: unknown, parts: readonly Uint8Array[]): Uint8Array {
  const json = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(json.length);
  const body = Buffer.concat([length, json, ...parts]);
  const start = Buffer.alloc(HEAD_BYTES);
  start.writeUInt8(VERSION);
  start.writeUInt32LE(crc32(body), 1);
  return Buffer.concat([start, deflateRawSync(body)]);
}

export interface UnpackedColumns {
  readonly head: unknown;
  /** The next bytes of the columns. */
  readonly take: (bytes: number) => Uint8Array;
}

/** @throws Error if the bytes are damaged */
export function unpackColumns(content: Uint8Array): UnpackedColumns {
  const packed = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  if (packed.readUInt8() !== VERSION) throw new Error('unknown version of a block');
  const body = inflateRawSync(packed.subarray(HEAD_BYTES));
  if (crc32(body) !== packed.readUInt32LE(1)) {
    throw new Error('a block does not match its checksum');
  }
  let at = LENGTH_BYTES + body.readUInt32LE();
  return {
    head: JSON.parse(body.toString('utf8', LENGTH_BYTES, at)),
    take: (bytes) => body.subarray(at, (at += bytes)),
  };
}
