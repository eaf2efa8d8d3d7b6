/** One compressor on an arena of its own: from a gradient to bytes, and back to values. */
import type { JsonObject } from '../../../src/shared/checks/json.ts';
import type { Combined, Payload } from '../../../src/agent/memory/payload.ts';
import type { GradientBucket } from '../../../src/agent/methods/bucket-compressor.ts';
import { carriageOf, residualOf } from '../../../src/agent/methods/method.ts';
import { findMethod, validateParameters } from '../../../src/agent/methods/registry.ts';
import type { Arena, Region, Vector } from '../../../src/agent/memory/arena.ts';
import { backends } from '../kernels/backends.ts';
import { openInArena } from './open-in-arena.ts';

export interface LoneOptions {
  readonly method: string;
  readonly parameters?: JsonObject;
  /** Lengths of the bucket's tensors. */
  readonly tensors: readonly number[];
  readonly backend?: keyof typeof backends;
  readonly seed?: number;
  readonly rank?: number;
  readonly bucket?: number;
}

export class LoneCompressor {
  readonly arena: Arena;
  readonly compressor: GradientBucket;
  readonly reducible: boolean;
  readonly #gradient: Vector;
  readonly #region: Region;

  constructor(options: LoneOptions) {
    const { seed = 1, rank = 0, bucket = 0 } = options;
    const { arena, kernels } = backends[options.backend ?? 'wasm']();
    const method = findMethod(options.method);
    const parameters = validateParameters(method, options.parameters ?? {});
    const length = options.tensors.reduce((sum, n) => sum + n, 0);
    const residual = {
      offset: arena.allocateVector(length).offset,
      length,
    };
    kernels.fill(residual, 0);
    let start = 0;
    this.arena = arena;
    this.reducible = carriageOf(method, parameters).reducible;
    const context = {
      length,
      tensors: options.tensors.map((n, index) => {
        start += n;
        return { name: `${index}`, start: start - n, length: n, shape: [n] };
      }),
      parameters,
      seed,
      rank,
      world: 1,
      bucket,
      residual: residualOf(method, parameters) === 'none' ? undefined : residual,
    };
    this.#gradient = { offset: arena.allocateVector(length).offset, length };
    const gradient = this.#gradient;
    this.compressor = openInArena({ arena, kernels, method, context, gradient });
    this.#region = arena.allocate(16 * length + 4096);
  }

  /** The bytes that travel for this gradient. */
  async encode(gradient: ArrayLike<number>, iteration = 0): Promise<Uint8Array> {
    this.arena.f32(this.#gradient).set(gradient);
    const payload = await this.compressor.encode(iteration);
    const { offset, bytes } = payload.data;
    return this.arena.u8(offset, bytes).slice();
  }

  /** Bytes that somebody sent, as a payload. @throws GradwireError `PAYLOAD_INVALID` */
  parse(bytes: Uint8Array, iteration = 0): Payload {
    const { offset } = this.#region;
    this.arena.u8(offset, bytes.length).set(bytes);
    return this.compressor.parse({ offset, bytes: bytes.length }, iteration);
  }

  /** What a world of this one rank makes of a payload. */
  async decode(payload: Payload, iteration = 0): Promise<Float32Array> {
    await this.compressor.decode(combine(payload), iteration);
    return this.arena.f32(this.#gradient).slice();
  }

  async roundTrip(gradient: ArrayLike<number>, iteration = 0): Promise<Float32Array> {
    return await this.decode(
      this.parse(await this.encode(gradient, iteration), iteration),
      iteration,
    );
  }
}

function combine(payload: Payload): Combined {
  switch (payload.kind) {
    case 'dense':
      return { form: 'dense', data: payload.data };
    case 'sparse':
      return { form: 'sparse', count: payload.count, data: payload.data };
    default:
      return { form: 'gathered', payloads: [payload] };
  }
}
