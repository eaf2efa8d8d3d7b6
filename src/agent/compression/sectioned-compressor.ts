/**
 * The frame that the quantisers share. Each tensor of the bucket is a section of its own,
 * so that no scale spans two layers; tensors of fewer than `minElements` travel dense, as
 * a few bytes saved there would cost the precision of biases and norms. The payload is
 * the sections in the order of the tensors: f32 elements, or what the codec makes of them,
 * which is always whole words of 4 bytes. Nothing else is in it.
 *
 * Payloads cannot be summed, as every rank has scales of its own: they are gathered, their
 * values added in rank order, and divided by P once.
 */
import type { Region, Vector } from '../memory/arena.ts';
import { gatheredCodes } from './expected-messages.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type {
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  ExpectedBucket,
  ExpectedMessage,
} from './method.ts';
import { payloadInvalid, sentBy } from './payload-check.ts';
import { noState, requireNoState } from './stateless.ts';

/** How one section's elements become bytes, and values again. */
export interface SectionCodec extends Partial<Disposable> {
  /** Bytes that a section of n elements never exceeds while it is written. */
  capacity(n: number): number;
  /**
   * Writes x to `out` and returns the bytes used. Where the method keeps a residual, x
   * is left as x − its decoded values; else it may be left as anything.
   */
  encode(x: Vector, section: number, iteration: number, out: Region): number;
  /**
   * The bytes of the section of n elements that begins where `data` does, all of it
   * checked. What `add` needs besides may be kept until the next call.
   * @throws GradwireError `PAYLOAD_INVALID`
   */
  measure(data: Region, n: number): number;
  /** out ← out + values of the section measured last, or the values alone. */
  decode(data: Region, out: Vector, add: boolean): void;
}

/** @param codeBytes of a section of n elements that does not travel dense */
export function sectionsMessage(
  { minElements }: { readonly minElements: number },
  { length, tensors }: ExpectedBucket,
  codeBytes: (n: number) => number,
): ExpectedMessage {
  const bytes = tensors.map((tensor) =>
    tensor.length < minElements ? 4 * tensor.length : codeBytes(tensor.length),
  );
  return gatheredCodes(
    length,
    bytes.reduce((sum, section) => sum + section, 0),
  );
}

interface Section {
  readonly start: number;
  readonly length: number;
  readonly dense: boolean;
}

export class SectionedCompressor implements Compressor {
  readonly #method: string;
  readonly #context: CompressorContext;
  readonly #codec: SectionCodec;
  readonly #sections: readonly Section[];
  readonly #region: Region;
  #payload: Payload;

  constructor(
    method: string,
    context: CompressorContext<{ readonly minElements: number }>,
    codec: SectionCodec,
  ) {
    const { arena, length, parameters, tensors } = context;
    this.#method = method;
    this.#context = context;
    this.#codec = codec;
    this.#sections = tensors.map((tensor) => ({
      start: tensor.start,
      length: tensor.length,
      dense: tensor.length < parameters.minElements,
    }));
    const covered = this.#sections.reduce((sum, section) => sum + section.length, 0);
    if (covered !== length) {
      throw new Error(`internal: tensors of ${covered} in a bucket of ${length}`);
    }
    const capacities = this.#sections.map((section) =>
      section.dense ? 4 * section.length : codec.capacity(section.length),
    );
    this.#region = arena.allocate(capacities.reduce((sum, bytes) => sum + bytes, 0));
    this.#payload = { kind: 'quantized', length, data: this.#region };
  }

  encode(gradient: Vector, iteration: number): Payload {
    const { kernels, residual } = this.#context;
    if (residual !== undefined) kernels.add(residual, gradient);
    const source = residual ?? gradient;
    const { offset } = this.#region;
    let bytes = 0;
    for (const [index, section] of this.#sections.entries()) {
      const x = slice(source, section);
      const room = { offset: offset + bytes, bytes: this.#region.bytes - bytes };
      if (section.dense) {
        kernels.copy({ offset: room.offset, length: section.length }, x);
        if (residual !== undefined) kernels.fill(x, 0);
        bytes += 4 * section.length;
      } else {
        bytes += this.#codec.encode(x, index, iteration, room);
      }
    }
    if (bytes !== this.#payload.data.bytes) {
      this.#payload = { ...this.#payload, data: { offset, bytes } };
    }
    return this.#payload;
  }

  /** @throws GradwireError `PAYLOAD_INVALID`, naming the rank that sent it */
  decode(combined: Combined, out: Vector): ExchangeStatistics {
    if (combined.form !== 'gathered') {
      throw new Error(`internal: ${this.#method} has no ${combined.form} sums`);
    }
    const { kernels, world } = this.#context;
    for (const [rank, { data }] of combined.payloads.entries()) {
      try {
        this.#read(data, out, rank > 0);
      } catch (error) {
        throw sentBy(rank, error);
      }
    }
    if (world > 1) kernels.scale(out, 1 / world);
    return {};
  }

  parse(data: Region): Payload {
    this.#read(data);
    return { kind: 'quantized', length: this.#context.length, data };
  }

  save(): Uint8Array {
    return noState();
  }

  restore(state: Uint8Array): void {
    requireNoState(this.#method, state);
  }

  [Symbol.dispose](): void {
    this.#codec[Symbol.dispose]?.();
    this.#context.arena.release(this.#region);
  }

  /** Checks the payload; its values go to `out`, where there is one. */
  #read(data: Region, out?: Vector, add = false): void {
    const { kernels } = this.#context;
    let read = 0;
    for (const section of this.#sections) {
      const rest = { offset: data.offset + read, bytes: data.bytes - read };
      const target = out && slice(out, section);
      if (section.dense) {
        this.#require(rest, 4 * section.length);
        const values = { offset: rest.offset, length: section.length };
        if (target !== undefined) kernels[add ? 'add' : 'copy'](target, values);
        read += 4 * section.length;
      } else {
        const bytes = this.#codec.measure(rest, section.length);
        if (target !== undefined) {
          this.#codec.decode({ offset: rest.offset, bytes }, target, add);
        }
        read += bytes;
      }
    }
    if (read !== data.bytes) {
      throw payloadInvalid(this.#method, `${data.bytes} bytes, not ${read}`);
    }
  }

  #require(data: Region, bytes: number): void {
    if (data.bytes >= bytes) return;
    throw payloadInvalid(this.#method, `it ends ${bytes - data.bytes} bytes early`);
  }
}

function slice(vector: Vector, { start, length }: Section): Vector {
  return { offset: vector.offset + 4 * start, length };
}
