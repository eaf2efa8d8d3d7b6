/**
 * The exchange engine's communication with the other ranks: a communicator for each stream,
 * under the current epoch, timed by the phase clock and counted by the ledger. Exchanges on
 * one stream are sequential; those on different streams may overlap.
 */
import type { NetworkCost } from '../../shared/cost-model/network-cost.ts';
import type { SavedMemory } from '../collectives/collective-memory.ts';
import { TransportCommunicator } from '../collectives/communicator.ts';
import { rankPairs, type RankScores } from '../collectives/rank-pairs.ts';
import { chooseCollective } from '../collectives/registry.ts';
import { smallAllreduce, type SmallOperation } from '../collectives/small-allreduce.ts';
import type { Payload } from '../memory/payload.ts';
import type { Arena, Vector } from '../memory/arena.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { ByteLedger } from '../profile/byte-ledger.ts';
import type { PhaseClock } from '../profile/phase-clock.ts';
import type { Transport } from '../transport/transport.ts';

export interface GroupOptions {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly transport: Transport;
  readonly clock: PhaseClock;
  readonly ledger: ByteLedger;
  /** The current epoch, which every header carries. */
  readonly epoch: () => number;
  /** Measured constants; default: those of loopback. */
  readonly network?: NetworkCost | undefined;
  /** The node of each rank, the same on all ranks; default: all are on one. */
  readonly places?: readonly number[] | undefined;
  /** Seed of random rounding. */
  readonly seed: number;
}

/** The state of one stream. Plain data. */
export interface SavedStream {
  readonly stream: number;
  /** The number of its next exchange. */
  readonly sequence: number;
  readonly memory: SavedMemory;
}

export class CollectiveGroup {
  readonly #options: GroupOptions;
  readonly #communicators = new Map<number, TransportCommunicator>();

  constructor(options: GroupOptions) {
    this.#options = options;
  }

  get rank(): number {
    return this.#options.transport.rank;
  }

  get size(): number {
    return this.#options.transport.size;
  }

  get places(): readonly number[] | undefined {
    return this.#options.places;
  }

  /** The communicator of a stream, the same as long as the group lives. */
  communicator(stream: number): TransportCommunicator {
    let communicator = this.#communicators.get(stream);
    if (communicator === undefined) {
      const { arena, clock, epoch, kernels, ledger, places, seed, transport } =
        this.#options;
      communicator = new TransportCommunicator({
        arena,
        kernels,
        transport,
        stream,
        epoch,
        seed,
        places,
        reduce: (work) => clock.measure('reduce', work, stream),
        ledger,
      });
      this.#communicators.set(stream, communicator);
    }
    return communicator;
  }

  /** State that collectives use in their next exchange on a stream, by their ids. */
  memoryOf(stream: number): SavedMemory {
    return this.#communicators.get(stream)?.kept.save() ?? {};
  }

  /** Restores a stream's state from `memoryOf`. */
  remember(stream: number, memory: SavedMemory): void {
    this.communicator(stream).kept.restore(memory);
  }

  /** Each stream's position between two exchanges, and the collectives' state there. */
  save(): readonly SavedStream[] {
    return [...this.#communicators].map(([stream, communicator]) => ({
      stream,
      sequence: communicator.sequence,
      memory: communicator.kept.save(),
    }));
  }

  /** Restores the result of `save`, before the group's first exchange. */
  restore(streams: readonly SavedStream[]): void {
    for (const { stream, sequence, memory } of streams) {
      const communicator = this.communicator(stream);
      communicator.goOnFrom(sequence);
      communicator.kept.restore(memory);
    }
  }

  /**
   * Gives a stream's scratch memory back to the arena between two exchanges. The state of its
   * collectives stays.
   */
  clear(stream: number): void {
    this.#communicators.get(stream)?.[Symbol.dispose]();
  }

  /** Releases the collectives' state on a stream. */
  release(stream: number): void {
    const communicator = this.#communicators.get(stream);
    communicator?.kept.clear();
    communicator?.[Symbol.dispose]();
  }

  /** The average of a vector in the arena over ranks, in place. */
  async average(stream: number, vector: Vector): Promise<void> {
    const { arena, clock, kernels } = this.#options;
    const data = { offset: vector.offset, bytes: 4 * vector.length };
    const shape = {
      ranks: this.size,
      places: this.places,
      length: vector.length,
      payloadBytes: data.bytes,
    };
    const collective = chooseCollective('dense', shape, this.#options.network);
    const { length } = vector;
    const payload: Payload = { kind: 'dense', length, data, averages: true };
    const communicator = this.communicator(stream).beginWith(collective, payload);
    const combined = await collective.run(communicator, payload);
    if (combined.form !== 'dense') throw new Error('internal: a dense sum is dense');
    clock.measure('decompress', () => {
      if (combined.data.offset !== vector.offset) {
        arena.f32(vector).set(arena.f32({ ...vector, offset: combined.data.offset }));
      }
      if (combined.averaged !== true) kernels.scale(vector, 1 / this.size);
    });
  }

  /** Elementwise sum, minimum or maximum of a few numbers over ranks. */
  async summarize(
    stream: number,
    values: readonly number[],
    operations: readonly SmallOperation[],
  ): Promise<readonly number[]> {
    const communicator = this.#begin(stream, 0);
    return await smallAllreduce(communicator, values, operations);
  }

  /**
   * The number of pairs of a staying and a travelling score, over those of all ranks, in which the
   * staying one is lower. A pair of equal scores counts half.
   */
  async countPairs(stream: number, scores: RankScores): Promise<number> {
    const { travelling } = scores;
    const [longest] = await this.summarize(stream, [travelling.length], ['max']);
    const communicator = this.#begin(stream, rankPairs.code);
    const own = await rankPairs.run(communicator, scores, longest!);
    const [pairs] = await this.summarize(stream, [own], ['sum']);
    return pairs!;
  }

  #begin(stream: number, operation: number): TransportCommunicator {
    const epoch = this.#options.epoch();
    return this.communicator(stream).begin({ epoch, operation, dtype: 0 });
  }
}
