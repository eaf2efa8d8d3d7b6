/**
 * An event file of TensorBoard: TFRecords (a length, the data, a masked CRC-32C after each) of
 * `Event` messages, `tensorflow/core/util/event.proto`. Scalars have 32 bits there.
 */
import { crc32c, masked } from './crc32c.ts';
import { ProtobufWriter } from './protobuf.ts';

/** Numbers of the fields of `Event`, `Summary`, `Value`, `SummaryMetadata` and `TensorProto`. */
const EVENT = { wallTime: 1, step: 2, fileVersion: 3, summary: 5 } as const;
const SUMMARY = { value: 1 } as const;
const VALUE = { tag: 1, simpleValue: 2, tensor: 8, metadata: 9 } as const;
const METADATA = { pluginData: 1, pluginName: 1 } as const;
const TENSOR = { type: 1, shape: 2, strings: 8 } as const;
const DT_STRING = 7;
/** A tensor of one text: its shape has one dimension, of size 1. */
const ONE = Uint8Array.of(0x12, 2, 0x08, 1);

export interface EventTime {
  /** Seconds since 1970. */
  readonly wallTime: number;
  readonly step: number;
}

export class EventFile {
  readonly #event = new ProtobufWriter();
  readonly #summary = new ProtobufWriter();
  readonly #value = new ProtobufWriter();
  readonly #part = new ProtobufWriter();
  #bytes = new Uint8Array(65_536);
  #length = 0;

  /** @param wallTime of the file's beginning, in seconds since 1970 */
  constructor(wallTime: number) {
    this.#event.double(EVENT.wallTime, wallTime);
    this.#event.bytes(EVENT.fileVersion, 'brain.Event:2');
    this.#record();
  }

  /** Adds scalars of one moment, by their tags. */
  scalars(time: EventTime, values: Iterable<readonly [string, number]>): void {
    this.#summary.clear();
    for (const [tag, value] of values) {
      this.#value.clear();
      this.#value.bytes(VALUE.tag, tag);
      this.#value.float(VALUE.simpleValue, value);
      this.#summary.bytes(SUMMARY.value, this.#value.written);
    }
    this.#finish(time);
  }

  /** Adds a text, which TensorBoard reads as Markdown. */
  text(time: EventTime, tag: string, content: string): void {
    this.#value.clear();
    this.#value.bytes(VALUE.tag, tag);
    const tensor = this.#part;
    tensor.clear();
    tensor.integer(TENSOR.type, DT_STRING);
    tensor.bytes(TENSOR.shape, ONE);
    tensor.bytes(TENSOR.strings, content);
    this.#value.bytes(VALUE.tensor, tensor.written);
    tensor.clear();
    tensor.bytes(METADATA.pluginName, 'text');
    const plugin = tensor.written.slice();
    tensor.clear();
    tensor.bytes(METADATA.pluginData, plugin);
    this.#value.bytes(VALUE.metadata, tensor.written);
    this.#summary.clear();
    this.#summary.bytes(SUMMARY.value, this.#value.written);
    this.#finish(time);
  }

  /** Takes the bytes that were added since the last call. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.slice(0, this.#length);
    this.#length = 0;
    return taken;
  }

  #finish({ step, wallTime }: EventTime): void {
    this.#event.clear();
    this.#event.double(EVENT.wallTime, wallTime);
    this.#event.integer(EVENT.step, step);
    this.#event.bytes(EVENT.summary, this.#summary.written);
    this.#record();
  }

  /** The event as a record. */
  #record(): void {
    const data = this.#event.written;
    const whole = this.#length + data.length + 16;
    if (whole > this.#bytes.length) {
      const grown = new Uint8Array(2 * whole);
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    const view = new DataView(this.#bytes.buffer);
    const at = this.#length;
    view.setBigUint64(at, BigInt(data.length), true);
    view.setUint32(at + 8, masked(crc32c(this.#bytes.subarray(at, at + 8))), true);
    this.#bytes.set(data, at + 12);
    view.setUint32(at + 12 + data.length, masked(crc32c(data)), true);
    this.#length = whole;
  }
}
