/**
 * One stream of a group of ranks, which runs collectives one after the other. Streams are
 * independent, so several exchanges can be in flight, each on its own stream. All ranks
 * call the same collectives in the same order on a stream; a different one, or a
 * different length where all must be equal, is `PEER_MISMATCH` on both sides.
 *
 * A call starts at once and is awaited later. Its result is in the arena, in the given
 * memory or the stream's own, valid until the stream's next call.
 */
import { z } from 'zod';
import { checkedOptions } from '../../shared/checks/checked-options.ts';
import { LOOPBACK } from '../../shared/cost-model/network-cost.ts';
import { inputError } from '../../shared/errors/errors.ts';
import { quantizationSchema } from '../../shared/plan/quantization.ts';
import { allgather } from '../collectives/allgather.ts';
import { barrier } from '../collectives/barrier.ts';
import { broadcast } from '../collectives/broadcast.ts';
import type { SavedMemory } from '../collectives/collective-memory.ts';
import type {
  CollectiveDefinition,
  CollectiveSettings,
  Quantization,
} from '../collectives/collective.ts';
import type { TransportCommunicator } from '../collectives/communicator.ts';
import { assertDelta } from '../collectives/delta.ts';
import { gather } from '../collectives/gather.ts';
import { payloadRegion } from '../collectives/payload-region.ts';
import { inOneStream } from '../collectives/sparse-stream.ts';
import { reduceScatter } from '../collectives/reduce-scatter.ts';
import {
  assertFits,
  assertQuantizes,
  assertReduces,
  assertServes,
  assertStreams,
  chooseCollective,
  findCollective,
  quantizingFor,
} from '../collectives/registry.ts';
import { smallAllreduce } from '../collectives/small-allreduce.ts';
import { valueBytesIn, type Combined, type Payload } from '../memory/payload.ts';
import { valueBytesOf, type HalfType } from '../memory/value-type.ts';
import type { Region, Vector } from '../memory/arena.ts';
import { sparseBytes } from '../memory/entries.ts';

/** Settings of the algorithm; only sums of f32 are quantised. */
export interface AllreduceOptions extends CollectiveSettings {
  /** A collective's id; absent or `auto`: the cheapest on a network like loopback. */
  readonly algorithm?: string | undefined;
}

const reduceScatterSchema = z.strictObject({ quantization: quantizationSchema });

const allreduceSchema = z.strictObject({
  algorithm: z.string().optional(),
  quantization: quantizationSchema.optional(),
  /** Number of servers, which is checked against the ranks. */
  servers: z.number().optional(),
  /** δ/N, which is checked against the type of the values. */
  delta: z.number().optional(),
});

/** A payload's kind in the headers; never renumbered. */
const KIND_CODES = { dense: 1, sparse: 2, quantized: 3, scalars: 4 } as const;
/** Headers of f64 have their own numbers: f32 on the other side is a mismatch. */
const F64_CODES = 16;
/** Likewise those of dense payloads of 16 bits. */
const HALF_CODES: Readonly<Record<HalfType, number>> = { bfloat16: 32, binary16: 48 };

export class GroupStream {
  readonly #communicator: TransportCommunicator;
  #running = false;

  constructor(communicator: TransportCommunicator) {
    this.#communicator = communicator;
  }

  /**
   * The payloads of all ranks combined, on every rank; a dense payload's memory is
   * overwritten.
   * @throws GradwireError `OPTION_INVALID`, `COLLECTIVE_UNKNOWN`, `COLLECTIVE_MISFIT`, `QUANTIZE_MISFIT`,
   * `SERVERS_MISFIT`, `SERVERS_INVALID`, `DELTA_MISFIT`, `DELTA_INVALID`, `PAYLOAD_INVALID`, the
   * transport's errors
   */
  async allreduce(payload: Payload, options: AllreduceOptions = {}): Promise<Combined> {
    checkedOptions(allreduceSchema, options, 'GroupStream.allreduce');
    const { algorithm = 'auto', delta, quantization, servers } = options;
    const named = algorithm === 'auto' ? undefined : findCollective(algorithm);
    if (named !== undefined) {
      const { operation, values } = this.#communicator;
      assertFits(named, payload.kind, 'the stream');
      assertReduces(named, operation, values);
    }
    if (quantization !== undefined) this.#requireQuantizable(named, payload);
    const values = payload.kind === 'dense' ? payload.values : undefined;
    if (values !== undefined) this.#requireSum(values);
    if (servers !== undefined)
      assertServes(algorithm, servers, this.#communicator.size);
    if (delta !== undefined) {
      assertStreams(algorithm, delta, payload.kind);
      assertDelta(delta, this.#communicator.values);
    }
    const collective = named ?? (await this.#cheapest(payload, options));
    return await this.#run(
      collective.code,
      payload.kind,
      async (communicator) =>
        inOneStream(communicator, await collective.run(communicator, payload)),
      { quantization, servers, delta, values },
    );
  }

  /** All payloads, in rank order, of any lengths. */
  async gather(payload: Payload): Promise<readonly Payload[]> {
    return await this.#run(gather.code, payload.kind, async (communicator) => {
      const combined = await gather.run(communicator, payload);
      return combined.form === 'gathered' ? combined.payloads : [];
    });
  }

  /** Block i of `into`, `sizes[i]` bytes after those before it, from rank i. */
  async allgather(into: Region, sizes: readonly number[]): Promise<void> {
    await this.#run(allgather.code, 'dense', (communicator) =>
      allgather.run(communicator, into, sizes),
    );
  }

  /** Part `rank` of P of the vector, combined over ranks, in its place. */
  async reduceScatter(vector: Vector, quantization?: Quantization): Promise<Vector> {
    if (quantization !== undefined) {
      checkedOptions(
        reduceScatterSchema,
        { quantization },
        'GroupStream.reduceScatter',
      );
      this.#requireQuantizable(undefined);
    }
    return await this.#run(
      reduceScatter.code,
      'dense',
      (communicator) => reduceScatter.run(communicator, vector),
      { quantization },
    );
  }

  /**
   * Copies the root's bytes into the others' region, which must have room; returns what
   * came.
   */
  async broadcast(region: Region, root: number): Promise<Region> {
    const { size } = this.#communicator;
    if (!Number.isInteger(root) || root < 0 || root >= size) {
      throw new Error(`internal: a broadcast by rank ${root} of ${size}`);
    }
    const payload: Payload = { kind: 'quantized', length: 0, data: region };
    return await this.#run(broadcast.code, 'quantized', async (communicator) => {
      const combined = await broadcast.run(communicator, payload, root);
      if (combined.form !== 'gathered') throw new Error('internal: no broadcast');
      return payloadRegion(combined.payloads[0]!);
    });
  }

  /** Resolves when every rank has called it. */
  async barrier(): Promise<void> {
    await this.#run(barrier.code, 'dense', (communicator) => barrier.run(communicator));
  }

  /**
   * Saves what its collectives have agreed on with the other ranks, as plain data: thresholds and
   * ranges of `ok-topk`. A stream that restores it, on every rank, continues with the same bits.
   */
  save(): SavedMemory {
    return this.#communicator.kept.save();
  }

  /** @throws GradwireError `COLLECTIVE_STATE_INVALID` */
  restore(state: unknown): void {
    this.#communicator.kept.restore(state);
  }

  /** Returns the stream's memory to the arena. */
  release(): void {
    this.#communicator[Symbol.dispose]();
  }

  /** All ranks must choose the same, so the rank with the most entries decides. */
  async #cheapest(
    payload: Payload,
    { delta, quantization }: CollectiveSettings,
  ): Promise<CollectiveDefinition> {
    const { kind, length, data } = payload;
    if (quantization !== undefined) return quantizingFor(kind);
    const { size: ranks, places } = this.#communicator;
    const valueBytes = valueBytesIn(payload) ?? valueBytesOf(this.#communicator.values);
    const shape = { ranks, places, length, valueBytes, delta };
    if (kind !== 'sparse') {
      const payloadBytes = kind === 'dense' ? valueBytes * length : data.bytes;
      return chooseCollective(kind, { ...shape, payloadBytes }, LOOPBACK);
    }
    const [nnz = 0] = await this.#run(0, kind, (communicator) =>
      smallAllreduce(communicator, [payload.count], ['max']),
    );
    const payloadBytes = sparseBytes(nnz, valueBytes);
    return chooseCollective(kind, { ...shape, payloadBytes, nnz }, LOOPBACK);
  }

  #requireQuantizable(
    collective: CollectiveDefinition | undefined,
    payload?: Payload,
  ): void {
    const { operation } = this.#communicator;
    const own = payload === undefined ? undefined : valueBytesIn(payload);
    const valueBytes = own ?? valueBytesOf(this.#communicator.values);
    if (collective !== undefined) assertQuantizes(collective);
    if (operation === 'sum' && valueBytes === 4) return;
    throw inputError(
      'QUANTIZE_MISFIT',
      `a ${operation} of ${valueBytes}-byte values cannot be quantised`,
      { next: 'Quantise sums of f32 values only.' },
    );
  }

  #requireSum(values: HalfType): void {
    const { operation, values: own } = this.#communicator;
    if (operation === 'sum' && own === 'f32') return;
    throw inputError(
      'COLLECTIVE_MISFIT',
      `a ${operation} of ${own} values does not take ${values} values`,
      { next: 'Sum values of 16 bits on a stream of f32 sums.' },
    );
  }

  async #run<T>(
    operation: number,
    kind: Payload['kind'],
    work: (communicator: TransportCommunicator) => Promise<T>,
    settings?: CollectiveSettings & { readonly values?: HalfType | undefined },
  ): Promise<T> {
    if (this.#running) throw new Error('internal: the stream is at work already');
    this.#running = true;
    try {
      const { values } = this.#communicator;
      const half = settings?.values === undefined ? 0 : HALF_CODES[settings.values];
      const dtype = KIND_CODES[kind] + (values === 'f64' ? F64_CODES : half);
      return await work(
        this.#communicator.begin({ epoch: 0, operation, dtype, ...settings }),
      );
    } finally {
      this.#running = false;
    }
  }
}
