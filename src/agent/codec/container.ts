/**
 * The container of files that the engine writes: magic and kind, a header in JSON, and a
 * body of plain bytes. Little-endian:
 *
 *     0   4   magic, "GRDW"
 *     4   2   version of this layout, 1
 *     6   2   kind: 1 a payload, 2 a rank's state
 *     8   4   h, bytes of the header
 *     12  4   CRC-32 of all other bytes of the file
 *     16  8   b, bytes of the body
 *     24  h   the header, a JSON object in UTF-8
 *     24+h b  the body; the file ends with it
 *
 * Reading copies nothing and allocates no more than the header's text.
 */
import { crc32 } from 'node:zlib';
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';

const MAGIC = 'GRDW';
const VERSION = 1;
const PREFIX_BYTES = 24;
const CRC_AT = 12;
/** A header names a method and its parameters; a longer one is invalid. */
const MAXIMUM_HEADER_BYTES = 65_536;

const KINDS = { payload: 1, state: 2 } as const;
export type ContainerKind = keyof typeof KINDS;

export interface Container {
  /** Header as parsed from JSON; code that knows the kind must check it. */
  readonly header: unknown;
  readonly body: Uint8Array;
}

export function packContainer(
  kind: ContainerKind,
  header: object,
  parts: readonly Uint8Array[],
): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(header));
  if (text.length > MAXIMUM_HEADER_BYTES) {
    throw new Error(`internal: a header of ${text.length} bytes`);
  }
  const bodyBytes = parts.reduce((sum, { length }) => sum + length, 0);
  const file = new Uint8Array(PREFIX_BYTES + text.length + bodyBytes);
  const view = new DataView(file.buffer);
  file.set(new TextEncoder().encode(MAGIC));
  view.setUint16(4, VERSION, true);
  view.setUint16(6, KINDS[kind], true);
  view.setUint32(8, text.length, true);
  view.setBigUint64(16, BigInt(bodyBytes), true);
  file.set(text, PREFIX_BYTES);
  let at = PREFIX_BYTES + text.length;
  for (const part of parts) {
    file.set(part, at);
    at += part.length;
  }
  view.setUint32(CRC_AT, checksum(file), true);
  return file;
}

/**
 * @throws GradwireError `CONTAINER_UNKNOWN` for a file that is not a container, or one of another
 * version or kind; `CONTAINER_TRUNCATED`, `CONTAINER_CORRUPT`
 */
export function unpackContainer(kind: ContainerKind, file: Uint8Array): Container {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const start = new TextDecoder('latin1').decode(file.subarray(0, MAGIC.length));
  if (!MAGIC.startsWith(start)) {
    throw unknown(`it begins with ${JSON.stringify(start)}, not with "${MAGIC}"`);
  }
  if (file.length < PREFIX_BYTES) throw truncated(file.length, PREFIX_BYTES);
  const version = view.getUint16(4, true);
  if (version !== VERSION) {
    throw unknown(
      `it has version ${version}, but this Gradwire reads version ${VERSION}`,
    );
  }
  const headerBytes = view.getUint32(8, true);
  if (headerBytes > MAXIMUM_HEADER_BYTES) {
    throw corrupt(
      `its header has ${headerBytes} bytes, more than the ${MAXIMUM_HEADER_BYTES} allowed`,
    );
  }
  const bodyAt = PREFIX_BYTES + headerBytes;
  // Exact up to 2⁵³, and no file is larger.
  const end = bodyAt + Number(view.getBigUint64(16, true));
  if (file.length < end) throw truncated(file.length, end);
  if (file.length > end) {
    throw corrupt(`it has ${file.length - end} extra bytes at its end`);
  }
  if (checksum(file) !== view.getUint32(CRC_AT, true)) {
    throw corrupt('its checksum does not match');
  }
  const code = view.getUint16(6, true);
  if (code !== KINDS[kind]) throw unknown(`it is ${describeKind(code)}, not a ${kind}`);
  return {
    header: parseHeader(file.subarray(PREFIX_BYTES, bodyAt)),
    body: file.subarray(bodyAt),
  };
}

function parseHeader(text: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(text));
  } catch (cause) {
    throw corrupt(`its header is not JSON: ${(cause as Error).message}`);
  }
}

/** The checksum of everything except itself. */
function checksum(file: Uint8Array): number {
  return crc32(file.subarray(CRC_AT + 4), crc32(file.subarray(0, CRC_AT)));
}

function describeKind(code: number): string {
  const known = Object.entries(KINDS).find(([, value]) => value === code);
  return known === undefined ? `of kind ${code}` : `a ${known[0]}`;
}

function unknown(what: string): GradwireError {
  return inputError('CONTAINER_UNKNOWN', `this file cannot be read here: ${what}`, {
    next: 'Give a file written by gradwire compress: --out writes payloads, --state writes states.',
  });
}

function truncated(bytes: number, expected: number): GradwireError {
  return inputError(
    'CONTAINER_TRUNCATED',
    `the file was truncated: it has ${bytes} of ${expected} bytes`,
    { next: 'Copy or create it again.' },
  );
}

export function corrupt(what: string): GradwireError {
  return inputError('CONTAINER_CORRUPT', `the file was damaged: ${what}`, {
    next: 'Copy or create it again.',
  });
}
