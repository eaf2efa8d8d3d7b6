/**
 * Specs as text. YAML or JSON (which is YAML) becomes a raw value, or one error that
 * names line and column; a spec becomes YAML, one section per line.
 */
import { isUtf8 } from 'node:buffer';
import { createReadStream, fstatSync } from 'node:fs';
import { Document, isMap, isScalar, Scalar } from 'yaml';
import { inputError } from '../../shared/errors/errors.ts';
import { shownValue } from '../../shared/words/printable.ts';
import { YamlFault, yamlValue } from './yaml-value.ts';

const MAX_SPEC_BYTES = 1_000_000;

/**
 * @param place the text's name in errors: a file's path, "spec"
 * @throws GradwireError `SPEC_UNREADABLE`
 */
export function parseSpecText(text: string, place: string): unknown {
  let raw: unknown;
  try {
    raw = yamlValue(text);
  } catch (cause) {
    if (!(cause instanceof YamlFault)) throw cause;
    const at = cause.at === undefined ? '' : `:${cause.at.line}:${cause.at.column}`;
    throw unreadable(cause.message, `${place}${at}`);
  }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw unreadable(
      `a spec must be a mapping of keys to values, not ${describe(raw)}`,
      place,
    );
  }
  return raw;
}

/** @throws GradwireError `SPEC_UNREADABLE` */
export async function readSpecFile(file: string): Promise<unknown> {
  try {
    return await readSpecStream(createReadStream(file), file);
  } catch (cause) {
    throw notRead(cause, file);
  }
}

/** @throws GradwireError `SPEC_UNREADABLE` */
export async function readSpecStdin(): Promise<unknown> {
  const place = 'stdin';
  try {
    // As a stream, a directory ends at once.
    if (fstatSync(0).isDirectory()) throw unreadable('stdin is a directory', place);
    return await readSpecStream(process.stdin, place);
  } catch (cause) {
    throw notRead(cause, place);
  }
}

/** A refusal of the system as an error of the spec; any other error as it is. */
const notRead = (cause: unknown, place: string): unknown =>
  cause instanceof Error && 'syscall' in cause
    ? unreadable(`cannot read the spec: ${systemReason(cause)}`, place)
    : cause;

/**
 * Reads no further than a spec can be: a device or a pipe need not end.
 * @throws GradwireError `SPEC_UNREADABLE`
 */
async function readSpecStream(
  stream: AsyncIterable<Buffer>,
  place: string,
): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_SPEC_BYTES) {
      throw unreadable(`the spec has more than ${MAX_SPEC_BYTES} bytes`, place);
    }
  }
  return parseSpecText(textOf(Buffer.concat(chunks), place), place);
}

/** @throws GradwireError `SPEC_UNREADABLE` where the bytes are not UTF-8 */
function textOf(bytes: Buffer, place: string): string {
  const isUtf16 = [0xfffe, 0xfeff].includes(
    bytes.length < 2 ? 0 : bytes.readUInt16BE(),
  );
  if (!isUtf16 && isUtf8(bytes)) return bytes.toString('utf8');
  const what = isUtf16 ? 'UTF-16' : 'not UTF-8';
  throw unreadable(`the spec is ${what}: save it as UTF-8`, place);
}

/** A raw or validated spec as YAML text. */
export function specToYaml(spec: unknown): string {
  const document = new Document(spec);
  if (isMap(document.contents)) {
    for (const { value } of document.contents.items) {
      if (!isMap(value)) continue;
      const texts = value.items.map((pair) => pair.value).filter(hasLines);
      value.flow = texts.length === 0;
      for (const text of texts) text.type = Scalar.BLOCK_LITERAL;
    }
  }
  return document.toString({ lineWidth: 100, flowCollectionPadding: true });
}

/** Text with several lines, which reads better as a block. */
const hasLines = (value: unknown): value is Scalar =>
  isScalar(value) && typeof value.value === 'string' && value.value.includes('\n');

function unreadable(message: string, place: string): Error {
  return inputError('SPEC_UNREADABLE', message, {
    place,
    next: 'Give a YAML or JSON file; "gradwire presets" shows examples.',
  });
}

function describe(raw: unknown): string {
  if (raw === null || raw === undefined) return 'empty';
  return Array.isArray(raw) ? 'a list' : `the ${typeof raw} ${shownValue(raw)}`;
}

function systemReason(error: Error & { code?: unknown }): string {
  switch (error.code) {
    case 'ENOENT':
      return 'no such file';
    case 'EISDIR':
      return 'it is a directory';
    case 'EACCES':
      return 'permission denied';
    default:
      return error.message;
  }
}
