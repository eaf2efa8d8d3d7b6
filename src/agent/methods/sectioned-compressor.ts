/**
 * The frame that the quantisers share. Each tensor of the bucket is a separate section, so
 * that no scale spans two layers; tensors of fewer than `minElements` travel dense, because
 * saving a few bytes there would cost the precision of biases and norms. The payload is
 * exactly the sections in the order of the tensors: f32 elements, or the method's codes
 * (`work/section-layout.ts`), always in whole words of 4 bytes.
 *
 * Payloads cannot be summed, because every rank has its own scales: they are gathered,
 * their values added in rank order, and divided by P once.
 */
import type { Region } from '../memory/arena.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type {
  ReceivedSection,
  Section,
  SectionCoder,
  SectionCoding,
} from '../work/sections.ts';
import { wait, type Steps } from '../work/steps.ts';
import { gatheredCodes } from './expected-messages.ts';
import type {
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  ExpectedBucket,
  ExpectedMessage,
} from './method.ts';
import { payloadInvalid, sentBy } from './payload-check.ts';

/** A decoded section, with the bytes that it took. */
export type MeasuredSection = ReceivedSection & { readonly bytes: number };

/** The coding of sections that are not dense, and its check on arrival. */
export interface SectionCodec {
  readonly coding: SectionCoding;
  /**
   * The section of n elements that begins where `data` does, all of it checked; valid until
   * the next call.
   * @param columns as of `Section`
   * @throws GradwireError `PAYLOAD_INVALID`
   */
  measure(data: Region, n: number, columns?: number): MeasuredSection;
}

interface Parameters {
  readonly minElements: number;
}

/** Stream purposes below this are reserved for other users. */
export const NOISE_PURPOSE = 1 << 16;

/** @param codeBytes bytes of a section of n elements that does not travel dense */
export function sectionsMessage(
  parameters: Parameters,
  { length, tensors }: ExpectedBucket,
  codeBytes: (n: number, section: Section) => number,
  sections = sectionsOf({ parameters, tensors }),
): ExpectedMessage {
  const bytes = sections.map((section) =>
    section.dense ? 4 * section.length : codeBytes(section.length, section),
  );
  return gatheredCodes(
    length,
    bytes.reduce((sum, one) => sum + one, 0),
  );
}

/** One section for each tensor of the bucket. */
export function sectionsOf({
  parameters,
  tensors,
}: Pick<CompressorContext<Parameters>, 'parameters' | 'tensors'>): readonly Section[] {
  return tensors.map(({ start, length }) => {
    return { start, length, dense: length < parameters.minElements };
  });
}

export class SectionedCompressor<V> implements Compressor<V> {
  readonly #method: string;
  readonly #context: CompressorContext<Parameters, V>;
  readonly #codec: SectionCodec;
  readonly #sections: readonly Section[];
  readonly #coder: SectionCoder<V>;

  /**
   * @param sections of the tensors, in their order
   * @throws BeyondDevice
   */
  constructor(
    method: string,
    context: CompressorContext<Parameters, V>,
    codec: SectionCodec,
    sections = sectionsOf(context),
  ) {
    const { length, work } = context;
    this.#method = method;
    this.#context = context;
    this.#codec = codec;
    this.#sections = sections;
    const covered = this.#sections.reduce((sum, section) => sum + section.length, 0);
    if (covered !== length) {
      throw new Error(`internal: tensors of ${covered} in a bucket of ${length}`);
    }
    this.#coder = work.sections(this.#sections, codec.coding);
  }

  *encode(gradient: V, iteration: number): Steps<Payload> {
    const { bucket, length, rank, residual, seed, work } = this.#context;
    const noise = { seed, rank, bucket, iteration, purpose: NOISE_PURPOSE };
    if (residual === undefined) {
      const data = yield* wait(this.#coder.encode(gradient, noise));
      return { kind: 'quantized', length, data };
    }
    work.add(residual, gradient);
    if (this.#codec.coding.kind === 'signs') {
      // Leaves what they do not represent.
      const data = yield* wait(this.#coder.encode(residual, noise));
      this.#clearDense(residual);
      return { kind: 'quantized', length, data };
    }
    // Other codings may overwrite what they encode.
    work.blend(gradient, 0, residual, 1);
    const data = yield* wait(this.#coder.encode(gradient, noise));
    this.#read(data, gradient);
    work.blend(residual, 1, gradient, -1);
    return { kind: 'quantized', length, data };
  }

  /** @throws GradwireError `PAYLOAD_INVALID`, naming the rank that sent it */
  decode(combined: Combined, out: V): ExchangeStatistics {
    if (combined.form !== 'gathered') {
      throw new Error(`internal: ${this.#method} has no ${combined.form} sums`);
    }
    const { work, world } = this.#context;
    for (const [rank, { data }] of combined.payloads.entries()) {
      try {
        this.#read(data, out, rank > 0);
      } catch (error) {
        throw sentBy(rank, error);
      }
    }
    if (world > 1) work.scale(out, 1 / world);
    return {};
  }

  parse(data: Region): Payload {
    this.#read(data);
    return { kind: 'quantized', length: this.#context.length, data };
  }

  /** Clears the residual of dense sections, which leave none. */
  #clearDense(residual: V): void {
    const { work } = this.#context;
    for (const { start, length, dense } of this.#sections) {
      if (dense) work.clear(work.slice(residual, start, length));
    }
  }

  /** Checks the payload and writes its values to `out`, if given. */
  #read(data: Region, out?: V, add = false): void {
    const { work } = this.#context;
    let read = 0;
    for (const { start, length, dense, columns } of this.#sections) {
      const rest = { offset: data.offset + read, bytes: data.bytes - read };
      const section = dense
        ? this.#measureDense(rest, length)
        : this.#codec.measure(rest, length, columns);
      if (out !== undefined) {
        this.#coder.decode(section, work.slice(out, start, length), add);
      }
      read += section.bytes;
    }
    if (read !== data.bytes) {
      throw payloadInvalid(
        this.#method,
        `it has ${data.bytes} bytes instead of ${read}`,
      );
    }
  }

  #measureDense({ offset, bytes }: Region, length: number): MeasuredSection {
    if (bytes < 4 * length) {
      const missing = 4 * length - bytes;
      throw payloadInvalid(this.#method, `it ends ${missing} bytes early`);
    }
    return { kind: 'dense', bytes: 4 * length, values: { offset, length } };
  }
}
