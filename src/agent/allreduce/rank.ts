/**
 * One rank of an allreduce of files: its vector, and what becomes of it. Exact zeros are
 * absent entries, whichever the algorithm: a sparse one sends the others, a dense one
 * marks them as absent where the operation needs it. An entry that no rank has is 0.
 */
import type { CollectiveDefinition } from '../collectives/collective.ts';
import { TransportCommunicator } from '../collectives/communicator.ts';
import { findCollective } from '../collectives/registry.ts';
import { smallAllreduce } from '../collectives/small-allreduce.ts';
import type { Combined, Payload } from '../compression/method.ts';
import { Arena, type Vector } from '../kernels/arena.ts';
import { sparseBytes, type Kernels } from '../kernels/kernels.ts';
import { ABSENT_BITS, type ReduceOperation } from '../kernels/reduction.ts';
import { loadWasmKernels } from '../kernels/wasm/load.ts';
import { connectMesh } from '../transport/mesh.ts';
import { FRAME_HEADER_BYTES } from '../transport/message-frame.ts';
import { listenTcp, type TcpListener } from '../transport/tcp-listener.ts';
import type { Loaded, Reduced, ToRank, Written } from './rank-protocol.ts';
import { loadVector, storeVector } from './vector-file.ts';

/** Ranks of one command live on one machine. */
const HOST = '127.0.0.1';
/** How long a peer may be silent. */
const TIMEOUT_MS = 30_000;
const DTYPES = { dense: 1, sparse: 2 } as const;

type Order<Type extends ToRank['type']> = Extract<ToRank, { readonly type: Type }>;

export class AllreduceRank {
  readonly #arena = new Arena();
  readonly #kernels: Kernels = loadWasmKernels(this.#arena);
  #rank = 0;
  #listener: TcpListener | undefined;
  #vector: Vector | undefined;

  /** @throws GradwireError of the file, `LISTEN_FAILED` */
  async load({ rank, file }: Order<'load'>): Promise<Loaded> {
    this.#rank = rank;
    this.#vector = await loadVector(this.#arena, file);
    this.#listener = await listenTcp(HOST);
    return {
      type: 'loaded',
      address: this.#listener.address,
      length: this.#vector.length,
      nnz: countNonZero(this.#arena, this.#vector),
    };
  }

  /** @throws GradwireError of the transport, `PAYLOAD_INVALID` */
  async reduce(order: Order<'reduce'>): Promise<Reduced> {
    const { addresses, run, secret, operation } = order;
    const collective = findCollective(order.collective);
    const payload = this.#payload(collective, operation);
    const transport = await connectMesh({
      listener: this.#listener,
      rank: this.#rank,
      addresses,
      runId: run,
      secret,
      timeoutMs: TIMEOUT_MS,
    });
    const communicator = new TransportCommunicator({
      arena: this.#arena,
      kernels: this.#kernels,
      transport,
      stream: 0,
      operation,
    });
    const before = transport.counters;
    communicator.begin({ epoch: 0, operation: 0, dtype: 0 });
    // All begin together, or the time would be of waiting.
    await smallAllreduce(communicator, Float64Array.of(1), ['max']);
    const barrier = {
      sent: communicator.sentBytes + FRAME_HEADER_BYTES * communicator.sentMessages,
      received:
        communicator.receivedBytes + FRAME_HEADER_BYTES * communicator.receivedMessages,
    };
    communicator.begin({
      epoch: 0,
      operation: collective.code,
      dtype: DTYPES[payload.kind === 'sparse' ? 'sparse' : 'dense'],
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
      wireSent: after.sent - before.sent - barrier.sent,
      wireReceived: after.received - before.received - barrier.received,
      form: combined.form === 'sparse' ? 'sparse' : 'dense',
      nnz: countNonZero(this.#arena, this.#vector),
    };
  }

  /** @throws GradwireError `OUTPUT_NOT_WRITABLE` */
  async write({ file }: Order<'write'>): Promise<Written> {
    if (this.#vector === undefined) throw new Error('internal: nothing was reduced');
    await storeVector(this.#arena, this.#vector, file);
    return { type: 'written' };
  }

  #payload(collective: CollectiveDefinition, operation: ReduceOperation): Payload {
    const vector = this.#vector;
    if (vector === undefined) throw new Error('internal: nothing was loaded');
    const { offset, length } = vector;
    const bits = this.#arena.u32(offset, length);
    if (collective.takes.includes('dense')) {
      if (operation !== 'sum') {
        for (let i = 0; i < length; i++) if (isZero(bits[i]!)) bits[i] = ABSENT_BITS;
      }
      return { kind: 'dense', length, data: { offset, bytes: 4 * length } };
    }
    const count = countNonZero(this.#arena, vector);
    const data = this.#arena.allocate(sparseBytes(count));
    const indices = this.#arena.u32(data.offset, count);
    const values = this.#arena.u32(data.offset + 4 * count, count);
    let entry = 0;
    for (let i = 0; i < length; i++) {
      if (isZero(bits[i]!)) continue;
      indices[entry] = i;
      values[entry] = bits[i]!;
      entry++;
    }
    return { kind: 'sparse', length, count, data };
  }

  #result(combined: Combined, length: number, operation: ReduceOperation): Vector {
    if (combined.form === 'gathered')
      throw new Error('internal: a sum is not gathered');
    const { offset } = combined.data;
    if (combined.form === 'sparse') {
      const out = this.#arena.allocateVector(length);
      const stream = { offset, count: combined.count };
      this.#kernels.fill(out, 0);
      this.#kernels.reduction.scatter('sum', out, 0, stream);
      return out;
    }
    if (operation !== 'sum') {
      const bits = this.#arena.u32(offset, length);
      for (let i = 0; i < length; i++) if (bits[i] === ABSENT_BITS) bits[i] = 0;
    }
    return { offset, length };
  }
}

/** +0 or −0. */
const isZero = (bits: number): boolean => bits << 1 === 0;

function countNonZero(arena: Arena, { offset, length }: Vector): number {
  let count = 0;
  for (const bits of arena.u32(offset, length)) if (!isZero(bits)) count++;
  return count;
}
