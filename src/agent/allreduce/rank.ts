/**
 * One rank of an allreduce of files, with its vector. Exact zeros are absent entries for
 * every algorithm: a sparse one sends only the others, a dense one marks zeros as absent
 * if the operation needs it. An entry that no rank has is 0.
 */
import { TransportCommunicator } from '../collectives/communicator.ts';
import { findCollective } from '../collectives/registry.ts';
import { smallAllreduce } from '../collectives/small-allreduce.ts';
import { sparseStreams, type Combined, type Payload } from '../memory/payload.ts';
import { inputError } from '../../shared/errors/errors.ts';
import { Arena, type Vector } from '../memory/arena.ts';
import { sparseBytes } from '../memory/entries.ts';
import type { Kernels } from '../kernels/kernels.ts';
import { ABSENT_BITS, type ReduceOperation } from '../kernels/reduction.ts';
import { valueBytesOf, type ValueBytes, type ValueType } from '../memory/value-type.ts';
import { loadWasmKernels } from '../kernels/wasm/load.ts';
import { connectMesh } from '../transport/mesh.ts';
import { MeshSeat } from '../transport/mesh-seat.ts';
import { chooseTransport } from '../transport/transport-choice.ts';
import type { NotFinite } from './not-finite.ts';
import type { Report, ToRank } from './rank-protocol.ts';
import { loadVector, storeVector } from './vector-file.ts';

/** Ranks of one command are on one machine. */
const HOST = '127.0.0.1';
/** Time for which a live peer may send nothing. */
const TIMEOUT_MS = 30_000;
const DTYPES = {
  f32: { dense: 1, sparse: 2 },
  f64: { dense: 17, sparse: 18 },
} as const;

type Order<Type extends ToRank['type']> = Extract<ToRank, { readonly type: Type }>;

export class AllreduceRank {
  readonly #arena = new Arena();
  readonly #kernels: Kernels = loadWasmKernels(this.#arena);
  #rank = 0;
  #values: ValueType = 'f32';
  #seat: MeshSeat | undefined;
  #vector: Vector | undefined;

  /** @throws GradwireError of the file, `LISTEN_FAILED` */
  async load({ rank, file, values }: Order<'load'>): Promise<Report<'loaded'>> {
    this.#rank = rank;
    this.#values = values;
    this.#vector = await loadVector(this.#arena, file, this.#bytes);
    this.#seat = await MeshSeat.listen(HOST);
    return {
      type: 'loaded',
      address: this.#seat.address,
      length: this.#vector.length,
      nnz: this.#countNonZero(),
      notFinite: this.#notFinite(),
    };
  }

  /** @throws GradwireError of the transport, `VECTOR_NOT_FINITE`, `PAYLOAD_INVALID`,
   * `NATIVE_UNAVAILABLE` */
  async reduce(order: Order<'reduce'>): Promise<Report<'reduced'>> {
    const { addresses, run, secret, operation, seed } = order;
    const { delta, quantization, servers } = order;
    const collective = findCollective(order.collective);
    if (quantization !== undefined) this.#requireFinite();
    const payload = this.#payload(order.kind, operation);
    const { kind, libc } = await chooseTransport(order.transport);
    const transport = await connectMesh({
      listener: this.#seat?.listener,
      pulse: this.#seat?.pulse,
      libc,
      rank: this.#rank,
      addresses,
      runId: run,
      secret,
      encrypt: order.encrypt,
      network: order.network,
      timeoutMs: TIMEOUT_MS,
    });
    const communicator = new TransportCommunicator({
      arena: this.#arena,
      kernels: this.#kernels,
      transport,
      stream: 0,
      operation,
      values: this.#values,
      seed,
      places: order.places,
    });
    communicator.begin({ epoch: 0, operation: 0, dtype: 0 });
    // All begin together; otherwise waiting would be timed.
    await smallAllreduce(communicator, [1], ['max']);
    // Received bytes count once requested, so nothing beyond is counted yet.
    const before = transport.counters;
    communicator.begin({
      epoch: 0,
      operation: collective.code,
      dtype: DTYPES[this.#values][payload.kind === 'sparse' ? 'sparse' : 'dense'],
      quantization,
      servers,
      delta,
    });
    const start = performance.now();
    const combined = await collective.run(communicator, payload);
    const milliseconds = performance.now() - start;
    const after = transport.counters;
    this.#vector = this.#result(combined, payload.length, operation);
    await transport.close();
    return {
      type: 'reduced',
      milliseconds,
      wireSent: after.sent - before.sent,
      wireReceived: after.received - before.received,
      transport: kind,
      form: combined.form === 'dense' ? 'dense' : 'sparse',
      nnz: this.#countNonZero(),
    };
  }

  /** @throws GradwireError `OUTPUT_NOT_WRITABLE` */
  async write({ file }: Order<'write'>): Promise<Report<'written'>> {
    if (this.#vector === undefined) throw new Error('internal: nothing was reduced');
    await storeVector(this.#arena, this.#vector, file, this.#bytes);
    return { type: 'written' };
  }

  get #bytes(): ValueBytes {
    return valueBytesOf(this.#values);
  }

  /** The vector's elements; exact zeros are absent entries. */
  get #elements(): Float32Array | Float64Array {
    const vector = this.#vector;
    if (vector === undefined) throw new Error('internal: nothing was loaded');
    return this.#values === 'f32' ? this.#arena.f32(vector) : this.#arena.f64(vector);
  }

  /** A scale of NaN or infinity would be useless to the other ranks. */
  #requireFinite(): void {
    const found = this.#notFinite();
    if (found === undefined) return;
    throw inputError(
      'VECTOR_NOT_FINITE',
      `element ${found.index} of rank ${this.#rank} is ${found.value}`,
      { rank: this.#rank, next: 'Reduce it without quantisation, or fix the vector.' },
    );
  }

  #notFinite(): NotFinite | undefined {
    const elements = this.#elements;
    let count = 0;
    for (const value of elements) if (!Number.isFinite(value)) count++;
    if (count === 0) return undefined;
    const index = elements.findIndex((value) => !Number.isFinite(value));
    const value = String(elements[index]) as NotFinite['value'];
    return { count, index, value };
  }

  #payload(kind: 'dense' | 'sparse', operation: ReduceOperation): Payload {
    const elements = this.#elements;
    const { length } = elements;
    const offset = elements.byteOffset;
    const bytes = this.#bytes;
    const words = bytes / 4;
    const bits = this.#arena.u32(offset, words * length);
    if (kind === 'dense') {
      if (operation !== 'sum') {
        for (let i = 0; i < length; i++) {
          if (elements[i] === 0) bits.fill(ABSENT_BITS, words * i, words * (i + 1));
        }
      }
      return { kind: 'dense', length, data: { offset, bytes: bytes * length } };
    }
    const count = this.#countNonZero();
    const data = this.#arena.allocate(sparseBytes(count, bytes));
    const indices = this.#arena.u32(data.offset, count);
    // Word by word, because a stream's f64 may be at any multiple of 4 bytes.
    const values = this.#arena.u32(data.offset + 4 * count, words * count);
    let entry = 0;
    for (let i = 0; i < length; i++) {
      if (elements[i] === 0) continue;
      indices[entry] = i;
      for (let word = 0; word < words; word++) {
        values[words * entry + word] = bits[words * i + word]!;
      }
      entry++;
    }
    return { kind: 'sparse', length, count, data };
  }

  #result(combined: Combined, length: number, operation: ReduceOperation): Vector {
    if (combined.form === 'gathered')
      throw new Error('internal: a sum is not gathered');
    const bytes = this.#bytes;
    if (combined.form !== 'dense') {
      const out = { offset: this.#arena.allocate(bytes * length).offset, length };
      const { reduction, reduction64 } = this.#kernels;
      const reductions = bytes === 4 ? reduction : reduction64;
      reductions.clear('sum', out);
      for (const stream of sparseStreams(combined))
        reductions.scatter('sum', out, 0, stream);
      return out;
    }
    const { offset } = combined.data;
    if (operation !== 'sum') {
      const words = bytes / 4;
      const bits = this.#arena.u32(offset, words * length);
      for (let i = 0; i < bits.length; i += words) {
        const entry = bits.subarray(i, i + words);
        if (entry.every((word) => word === ABSENT_BITS)) entry.fill(0);
      }
    }
    return { offset, length };
  }

  /** Entries: neither +0 nor −0. */
  #countNonZero(): number {
    let count = 0;
    for (const value of this.#elements) if (value !== 0) count++;
    return count;
  }
}
