/** Writes the few kinds of protobuf fields that an event has, into memory that is used again. */

const VARINT = 0;
const DOUBLE = 1;
const BYTES = 2;
const FLOAT = 5;
const text = new TextEncoder();

export class ProtobufWriter {
  #bytes = new Uint8Array(4096);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  /** Bytes written since `clear`; valid until the next call. */
  get written(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  double(field: number, value: number): void {
    this.#key(field, DOUBLE);
    this.#reserve(8);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  /** A number rounded to 32 bits. */
  float(field: number, value: number): void {
    this.#key(field, FLOAT);
    this.#reserve(4);
    this.#view.setFloat32(this.#length, value, true);
    this.#length += 4;
  }

  /** @param value a whole number, not below 0 */
  integer(field: number, value: number): void {
    this.#key(field, VARINT);
    this.#varint(value);
  }

  /** A text, bytes, or a message that has been written. */
  bytes(field: number, value: string | Uint8Array): void {
    const bytes = typeof value === 'string' ? text.encode(value) : value;
    this.#key(field, BYTES);
    this.#varint(bytes.length);
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #key(field: number, wire: number): void {
    this.#varint(field * 8 + wire);
  }

  /** Seven bits a byte, the lowest first; the highest bit says that there are more. */
  #varint(value: number): void {
    this.#reserve(10);
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) {
      this.#bytes[this.#length++] = (rest % 128) | 0x80;
    }
    this.#bytes[this.#length++] = rest;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const grown = new Uint8Array(2 * (this.#length + more));
    grown.set(this.written);
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}
