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
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import { quantizationSchema } from '../../shared/plan/quantization.ts';
import { allgather } from '../collectives/allgather.ts';
import { barrier } from '../collectives/barrier.ts';
import { broadcast } from '../collectives/broadcast.ts';
import type { SavedMemory } from '../collectives/collective-memory.ts';
import type {
  CollectiveDefinition,
  CollectiveSettings,
  LevelQuantization,
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
import { callHeader, type GroupCall } from './call-header.ts';

/** Quantization as a caller gives it; default: 4 bits, buckets of 1024, scale `max`. */
export type QuantizationOptions = Partial<LevelQuantization> | Quantization;

/** Settings of the algorithm; only sums of f32 are quantised. */
export interface AllreduceOptions extends Omit<CollectiveSettings, 'quantization'> {
  /** A collective's id; absent or `auto`: the cheapest on a network like loopback. */
  readonly algorithm?: string | undefined;
  readonly quantization?: QuantizationOptions | undefined;
}

const reduceScatterSchema = z.strictObject({
  quantization: quantizationSchema.optional(),
});

const allreduceSchema = z.strictObject({
  algorithm: z.string().optional(),
  quantization: quantizationSchema.optional(),
  /** Number of servers, which is checked against the ranks. */
  servers: z.number().optional(),
  /** δ/N, which is checked against the type of the values. */
  delta: z.number().optional(),
});

/** A payload that is not dense has no averages, and the stream's values. */
const NOT_DENSE = { averages: undefined, values: undefined };

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
    const checked = checkedOptions(allreduceSchema, options, 'GroupStream.allreduce');
    const { algorithm = 'auto', delta, quantization, servers } = checked;
    const named = algorithm === 'auto' ? undefined : findCollective(algorithm);
    if (named !== undefined) {
      const { operation, values } = this.#communicator;
      assertFits(named, payload.kind, 'the stream');
      assertReduces(named, operation, values);
    }
    if (quantization !== undefined) this.#requireQuantizable(named, payload);
    const { averages, values } = payload.kind === 'dense' ? payload : NOT_DENSE;
    if (values !== undefined) this.#requireSum(values);
    if (servers !== undefined)
      assertServes(algorithm, servers, this.#communicator.size);
    if (delta !== undefined) {
      assertStreams(algorithm, delta, payload.kind);
      assertDelta(delta, this.#communicator.values);
    }
    const collective = named ?? (await this.#cheapest(payload, checked));
    return await this.#run(
      collective.code,
      payload.kind,
      async (communicator) =>
        inOneStream(communicator, await collective.run(communicator, payload)),
      { quantization, servers, delta, values, averages },
    );
  }

  /** All payloads, in rank order, of any lengths. */
  async gather(payload: Payload): Promise<readonly Payload[]> {
    return await this.#run(gather.code, payload.kind, async (communicator) => {
      const combined = await gather.run(communicator, payload);
      return combined.form === 'gathered' ? combined.payloads : [];
    });
  }

  /**
   * Block i of `into`, `sizes[i]` bytes after those before it, from rank i.
   * @throws GradwireError `OPTION_INVALID` unless there is one size for each rank, and room for all
   */
  async allgather(into: Region, sizes: readonly number[]): Promise<void> {
    const schema = blocksSchema(this.#communicator.size, into.bytes);
    checkedOptions(schema, { sizes }, 'GroupStream.allgather');
    await this.#run(allgather.code, 'dense', (communicator) =>
      allgather.run(communicator, into, sizes),
    );
  }

  /** Part `rank` of P of the vector, combined over ranks, in its place. */
  async reduceScatter(vector: Vector, options?: QuantizationOptions): Promise<Vector> {
    const { quantization } = checkedOptions(
      reduceScatterSchema,
      { quantization: options },
      'GroupStream.reduceScatter',
    );
    if (quantization !== undefined) this.#requireQuantizable(undefined);
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
   * @throws GradwireError `OPTION_INVALID` where no rank is the root
   */
  async broadcast(region: Region, root: number): Promise<Region> {
    const { size } = this.#communicator;
    const schema = z.object({
      root: z
        .int()
        .min(0)
        .max(size - 1),
    });
    checkedOptions(schema, { root }, 'GroupStream.broadcast');
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
    code: number,
    kind: Payload['kind'],
    work: (communicator: TransportCommunicator) => Promise<T>,
    settings?: Omit<GroupCall, 'kind' | 'operation' | 'streamValues'>,
  ): Promise<T> {
    if (this.#running) throw busy();
    this.#running = true;
    try {
      const { operation, values: streamValues } = this.#communicator;
      const header = callHeader(code, { kind, operation, streamValues, ...settings });
      return await work(this.#communicator.begin(header));
    } finally {
      this.#running = false;
    }
  }
}

const busy = (): GradwireError =>
  inputError('OPTION_INVALID', 'GroupStream: it is still at work on another call', {
    next: 'Await that call first, or use another stream.',
  });

/** The sizes of one block for each rank, that many bytes together at most. */
const blocksSchema = (ranks: number, bytes: number) =>
  z.object({
    sizes: z
      .array(z.int().min(0))
      .readonly()
      .refine(({ length }) => length === ranks, {
        message: 'it must have one size for each rank',
        abort: true,
      })
      .refine((sizes) => sizes.reduce((sum, size) => sum + size, 0) <= bytes, {
        message: `its sum must be at most ${bytes}, the bytes of the region`,
      }),
  });
