/**
 * Reads an event file as TensorBoard does: records with their checksums, and in them messages of
 * protobuf. Checksums are computed bit by bit.
 */

export interface ReadEvent {
  readonly wallTime: number;
  readonly step: number;
  readonly fileVersion?: string;
  readonly scalars: Readonly<Record<string, number>>;
  readonly texts: Readonly<Record<string, string>>;
}

/** @throws Error at a checksum that does not fit, or bytes that are left */
export function readEvents(file: Buffer): readonly ReadEvent[] {
  const events: ReadEvent[] = [];
  let at = 0;
  while (at < file.length) {
    const length = Number(file.readBigUInt64LE(at));
    requireChecksum(file.subarray(at, at + 8), file.readUInt32LE(at + 8));
    const data = file.subarray(at + 12, at + 12 + length);
    requireChecksum(data, file.readUInt32LE(at + 12 + length));
    events.push(eventOf(fieldsOf(data)));
    at += 16 + length;
  }
  if (at !== file.length) throw new Error('a record is cut off');
  return events;
}

function requireChecksum(bytes: Buffer, stored: number): void {
  const rotated = (stored - 0xa282ead8) >>> 0;
  const crc = ((rotated >>> 17) | (rotated << 15)) >>> 0;
  if (crc !== castagnoli(bytes)) throw new Error('the checksum does not fit');
}

/** The remainder of a polynomial division, one bit at a time. */
function castagnoli(bytes: Buffer): number {
  let crc = 0xffffffffn;
  for (const byte of bytes) {
    crc ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) {
      crc = crc & 1n ? (crc >> 1n) ^ 0x82f63b78n : crc >> 1n;
    }
  }
  return Number(crc ^ 0xffffffffn);
}

type Field = readonly [number: number, value: number | Buffer];

function fieldsOf(data: Buffer): readonly Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let [value, scale] = [0, 1];
    for (;;) {
      const byte = data[at++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
  };
  while (at < data.length) {
    const key = varint();
    const field = key >>> 3;
    switch (key & 7) {
      case 0:
        fields.push([field, varint()]);
        break;
      case 1:
        fields.push([field, data.readDoubleLE(at)]);
        at += 8;
        break;
      case 2: {
        const length = varint();
        fields.push([field, data.subarray(at, at + length)]);
        at += length;
        break;
      }
      case 5:
        fields.push([field, data.readFloatLE(at)]);
        at += 4;
        break;
      default:
        throw new Error(`wire type of ${key}`);
    }
  }
  return fields;
}

const all = (fields: readonly Field[], number: number): readonly Buffer[] =>
  fields.flatMap(([field, value]) => (field === number ? [value as Buffer] : []));

function eventOf(fields: readonly Field[]): ReadEvent {
  const number = (field: number): number =>
    (fields.find(([of]) => of === field)?.[1] ?? 0) as number;
  const scalars: Record<string, number> = {};
  const texts: Record<string, string> = {};
  for (const summary of all(fields, 5)) {
    for (const value of all(fieldsOf(summary), 1)) {
      const parts = fieldsOf(value);
      const tag = all(parts, 1)[0]!.toString();
      const simple = parts.find(([field]) => field === 2);
      if (simple !== undefined) scalars[tag] = simple[1] as number;
      for (const tensor of all(parts, 8)) {
        texts[tag] = all(fieldsOf(tensor), 8)[0]!.toString();
      }
    }
  }
  const version = all(fields, 3)[0]?.toString();
  return {
    wallTime: number(1),
    step: number(2),
    scalars,
    texts,
    ...(version === undefined ? {} : { fileVersion: version }),
  };
}
