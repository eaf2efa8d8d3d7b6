/**
 * P ranks of one method in one process: each has its compressor, gradient and residual;
 * the collective between them is a plain sum in rank order, in whichever form it is asked
 * to leave its result.
 */
import type { JsonObject } from '../../../src/shared/checks/json.ts';
import type { GradientBucket } from '../../../src/agent/methods/bucket-compressor.ts';
import type { Combined, Payload } from '../../../src/agent/memory/payload.ts';
import {
  carriageOf,
  residualOf,
  type Communicate,
  type CommunicationRequest,
  type ExchangeStatistics,
  type MethodDefinition,
  type TensorSlice,
} from '../../../src/agent/methods/method.ts';
import { findMethod, validateParameters } from '../../../src/agent/methods/registry.ts';
import { Arena, type Region, type Vector } from '../../../src/agent/memory/arena.ts';
import type { SparseStream } from '../../../src/agent/memory/entries.ts';
import type { HalfType } from '../../../src/agent/memory/value-type.ts';
import type { Kernels } from '../../../src/agent/kernels/kernels.ts';
import { openInArena, type Opening } from './open-in-arena.ts';

export type Form = Combined['form'];

export interface WorldOptions {
  readonly method: string;
  readonly parameters?: JsonObject;
  readonly ranks: number;
  readonly length: number;
  readonly tensors?: readonly TensorSlice[];
  readonly form?: Form;
  /** Of a sparse result only so many entries, the largest: a partial sum. */
  readonly most?: number;
  readonly makeKernels: (arena: Arena) => Kernels;
  /** Who opens a rank's compressor; default: in the arena. */
  readonly open?: (opening: Opening) => GradientBucket;
}

export interface SavedRank {
  readonly state: Uint8Array;
  readonly residual: Float32Array | undefined;
}

interface Rank {
  readonly compressor: GradientBucket;
  readonly gradient: Vector & Region;
  readonly residual: (Vector & Region) | undefined;
}

export class SimulatedWorld implements Disposable {
  readonly arena = new Arena();
  readonly method: MethodDefinition;
  readonly keepsResidual: boolean;
  readonly #options: WorldOptions;
  readonly #reducible: boolean;
  readonly #ranks: Rank[];
  /** Room for what the collective makes, at the most dense. */
  readonly #combined: Region;
  statistics: readonly ExchangeStatistics[] = [];
  /** What each rank sent last, as bytes. */
  sent: readonly Uint8Array[] = [];

  constructor(options: WorldOptions) {
    this.#options = options;
    this.method = findMethod(options.method);
    const parameters = validateParameters(this.method, options.parameters ?? {});
    this.#reducible = carriageOf(this.method, parameters).reducible;
    this.keepsResidual = residualOf(this.method, parameters) !== 'none';
    const kernels = options.makeKernels(this.arena);
    this.#combined = this.arena.allocate(8 * options.length * options.ranks + 64);
    this.#ranks = Array.from({ length: options.ranks }, (_, rank) => {
      const gradient = this.arena.allocateVector(options.length);
      const residual = this.keepsResidual
        ? this.arena.allocateVector(options.length)
        : undefined;
      if (residual !== undefined) kernels.fill(residual, 0);
      const context = {
        length: options.length,
        tensors: options.tensors ?? [
          { name: 'all', start: 0, length: options.length, shape: [options.length] },
        ],
        parameters,
        seed: 1,
        rank,
        world: options.ranks,
        bucket: 0,
        residual,
      };
      const compressor = (options.open ?? openInArena)({
        arena: this.arena,
        kernels,
        method: this.method,
        context,
        gradient,
      });
      return { compressor, gradient, residual };
    });
  }

  /** Each rank's result for its gradient. */
  async exchange(
    iteration: number,
    gradients: readonly ArrayLike<number>[],
  ): Promise<Float32Array[]> {
    this.#ranks.forEach(({ gradient }, rank) => {
      this.arena.f32(gradient).set(gradients[rank]!);
    });
    const meet = this.#meeting();
    this.statistics = await Promise.all(
      this.#ranks.map(async ({ compressor }, rank) => {
        const communicate: Communicate = (request) => meet(rank, request);
        if (compressor.talks) return await compressor.exchange(iteration, communicate);
        const payload = await compressor.encode(iteration);
        const reduces = this.#reducible || payload.kind === 'dense';
        const operation = reduces ? 'reduce' : 'gather';
        const combined = await communicate({ operation, payload });
        return await compressor.decode(combined, iteration);
      }),
    );
    return this.#ranks.map(({ gradient }) => this.arena.f32(gradient).slice());
  }

  [Symbol.dispose](): void {
    for (const { compressor } of this.#ranks) compressor[Symbol.dispose]();
  }

  residual(rank: number): Float32Array {
    const { residual } = this.#ranks[rank]!;
    if (residual === undefined) throw new Error(`${this.method.id} keeps no residual`);
    return this.arena.f32(residual).slice();
  }

  /** Everything a rank keeps from one exchange to the next. */
  async save(): Promise<SavedRank[]> {
    return await Promise.all(
      this.#ranks.map(async ({ compressor, residual }) => ({
        state: await compressor.save(),
        residual: residual && this.arena.f32(residual).slice(),
      })),
    );
  }

  restore(saved: readonly SavedRank[]): void {
    this.#ranks.forEach(({ compressor, residual }, rank) => {
      compressor.restore(saved[rank]!.state);
      if (residual !== undefined) this.arena.f32(residual).set(saved[rank]!.residual!);
    });
  }

  /** The last rank to ask serves all, in rank order. */
  #meeting(): (rank: number, request: CommunicationRequest) => Promise<Combined> {
    const waiting = new Map<
      number,
      { request: CommunicationRequest; resolve: (c: Combined) => void }
    >();
    return (rank, request) =>
      new Promise((resolve) => {
        waiting.set(rank, { request, resolve });
        if (waiting.size < this.#ranks.length) return;
        const all = this.#ranks.map((_, place) => waiting.get(place)!);
        waiting.clear();
        const payloads = all.map((one) => one.request.payload);
        this.sent = payloads.map(({ data }) =>
          this.arena.u8(data.offset, data.bytes).slice(),
        );
        const combined = this.#combine(request, payloads);
        for (const one of all) one.resolve(combined);
      });
  }

  #combine(request: CommunicationRequest, payloads: readonly Payload[]): Combined {
    switch (request.operation) {
      case 'broadcast':
        return { form: 'gathered', payloads: [payloads[request.root]!] };
      case 'gather':
        return { form: 'gathered', payloads };
      case 'reduce':
        break;
      default:
        return request satisfies never;
    }
    const { offset } = this.#combined;
    const form = this.#options.form ?? 'dense';
    if (form === 'gathered') return { form, payloads };
    const [one] = payloads;
    if (one?.kind === 'dense' && one.values !== undefined) {
      return { form: 'dense', data: this.#sumOfHalves(payloads, one.values) };
    }
    const sums = this.#sum(payloads);
    if (form === 'sparse' || form === 'streams') {
      const { most } = this.#options;
      const largest = [...sums].sort(([, a], [, b]) => Math.abs(b) - Math.abs(a));
      const indices = largest
        .slice(0, most)
        .map(([index]) => index)
        .sort((a, b) => a - b);
      if (form === 'streams') return { form, ...this.#inStreams(indices, sums) };
      const count = indices.length;
      this.arena.u32(offset, count).set(indices);
      this.arena
        .f32({ offset: offset + 4 * count, length: count })
        .set(indices.map((index) => sums.get(index)!));
      const data = { offset, bytes: 8 * count };
      return { form, count, data, ...(most === undefined ? {} : { partial: true }) };
    }
    const [first] = payloads;
    const length = first!.kind === 'scalars' ? first!.data.bytes / 4 : first!.length;
    const dense = this.arena.f32({ offset, length }).fill(0);
    for (const [index, value] of sums) dense[index] = value;
    return { form, data: { offset, bytes: 4 * length } };
  }

  /** In three streams, the first of them empty; a gap of a word between them. */
  #inStreams(
    indices: readonly number[],
    sums: ReadonlyMap<number, number>,
  ): { count: number; streams: readonly SparseStream[] } {
    const middle = Math.ceil(indices.length / 3);
    let { offset } = this.#combined;
    const streams = [[], indices.slice(0, middle), indices.slice(middle)].map(
      (part) => {
        const count = part.length;
        const stream = { offset, count };
        this.arena.u32(offset, count).set(part);
        this.arena
          .f32({ offset: offset + 4 * count, length: count })
          .set(part.map((index) => sums.get(index)!));
        offset += 8 * count + 4;
        return stream;
      },
    );
    return { count: indices.length, streams };
  }

  /** Values of 16 bits, each sum rounded by the platform or, for bfloat16, cut to nearest. */
  #sumOfHalves(payloads: readonly Payload[], type: HalfType): Region {
    const { bytes } = payloads[0]!.data;
    const widths = payloads.map(({ data }) => {
      const codes = new Uint16Array(this.arena.u8(data.offset, bytes).slice().buffer);
      return type === 'binary16'
        ? Float32Array.from(new Float16Array(codes.buffer))
        : new Float32Array(Uint32Array.from(codes, (code) => code << 16).buffer);
    });
    const codes = Uint16Array.from(widths[0]!, (first, index) => {
      const rest = widths.slice(1).map((values) => values[index]!);
      return halfOf(
        type,
        rest.reduce((sum, value) => valueOf(type, halfOf(type, sum + value)), first),
      );
    });
    this.arena.u8(this.#combined.offset, bytes).set(new Uint8Array(codes.buffer));
    return { offset: this.#combined.offset, bytes };
  }

  #sum(payloads: readonly Payload[]): Map<number, number> {
    const sums = new Map<number, number>();
    for (const payload of payloads) {
      const { offset, bytes } = payload.data;
      const count = payload.kind === 'sparse' ? payload.count : bytes / 4;
      const indices =
        payload.kind === 'sparse'
          ? this.arena.u32(offset, count)
          : Uint32Array.from({ length: count }, (_, i) => i);
      const values = this.arena.f32({
        offset: payload.kind === 'sparse' ? offset + 4 * count : offset,
        length: count,
      });
      indices.forEach((index, i) => {
        sums.set(index, Math.fround((sums.get(index) ?? 0) + values[i]!));
      });
    }
    return sums;
  }
}

/** The code of a value: of bfloat16 the upper half of the f32, the nearer of two. */
function halfOf(type: HalfType, value: number): number {
  if (type === 'binary16') return new Uint16Array(Float16Array.of(value).buffer)[0]!;
  const [bits] = new Uint32Array(Float32Array.of(value).buffer);
  const [low, high] = [bits! >>> 16, (bits! >>> 16) + 1];
  const [below, above] = [low, high].map((code) =>
    Math.abs(valueOf(type, code) - value),
  );
  if (below === above) return low % 2 === 0 ? low : high;
  return below! < above! ? low : high;
}

const valueOf = (type: HalfType, code: number): number =>
  type === 'binary16'
    ? new Float16Array(Uint16Array.of(code).buffer)[0]!
    : new Float32Array(Uint32Array.of(code << 16).buffer)[0]!;
