/**
 * A world of rank processes for the benchmark, on loopback or each in its own namespace.
 * Processes live as long as the world: memory and code are warm from cell to cell.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { z } from 'zod';
import { profileOf } from '../../src/agent/probe/measure-network.ts';
import type { NetworkCost } from '../../src/shared/cost-model/network-cost.ts';
import { networkCostOf } from '../../src/shared/cost-model/network-profile.ts';
import { RankWorld } from '../../src/agent/world/rank-world.ts';
import type { Links } from './links.ts';
import type {
  Cell,
  FromRank,
  IteratedExchange,
  IterationProfile,
  MeasuredExchange,
  ToRank,
} from './rank-protocol.ts';
import type { TransportChoice } from './rank-transport.ts';

const entry = path.join(import.meta.dirname, 'rank-main.ts');

export interface WorldOptions {
  readonly ranks: number;
  readonly links: Links;
  readonly transport: TransportChoice;
  readonly profiled?: boolean;
  /** The node of each rank, as the collectives are told; default: all are on one. */
  readonly places?: readonly number[] | undefined;
}

export interface CellResult {
  /** Milliseconds by repetition: the slowest rank's. */
  readonly times: readonly number[];
  /** The exchange of the rank that sends most, where it was checked. */
  readonly exchange: MeasuredExchange | undefined;
  /** Bytes of the largest arena of a rank. */
  readonly arenaBytes: number;
}

export class BenchWorld implements AsyncDisposable {
  readonly size: number;
  readonly links: Links;
  readonly places: readonly number[] | undefined;
  readonly #ranks: RankWorld<ToRank, FromRank>;
  #transport = '';

  /** @throws GradwireError of a rank */
  static async start(options: WorldOptions): Promise<BenchWorld> {
    const world = new BenchWorld(options);
    try {
      await world.#connect(options);
      return world;
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor({ ranks, links, places }: WorldOptions) {
    this.places = places;
    this.size = ranks;
    this.links = links;
    this.#ranks = new RankWorld({
      size: ranks,
      // From the same sources: nothing else writes there.
      reports: z.custom<FromRank>(),
      commandOf: (rank) => ({ entry, prefix: links.prefix(rank) }),
    });
  }

  /** The transport in use. */
  get transport(): string {
    return this.#transport;
  }

  /** Measures what messages cost on these links, all ranks at once, and what the kernels take. */
  async networkCost(): Promise<NetworkCost> {
    const probed = await this.#ranks.all('probed', () => ({ type: 'probe' }));
    const profile = profileOf(
      probed.map(({ timings }) => timings),
      {
        transport: this.#transport,
        measuredAt: Date.now(),
        nodes: probed.map((_, rank) => this.links.host(rank)),
      },
    );
    return networkCostOf(profile, this.size);
  }

  /** @throws GradwireError of a rank, `RESULT_WRONG`, `WORKER_DIED` */
  async measure(cell: Cell): Promise<CellResult> {
    const results = await this.#ranks.all('measured', () => ({
      type: 'measure',
      cell,
    }));
    return {
      times: results[0]!.times.map((_, repetition) =>
        Math.max(...results.map(({ times }) => times[repetition]!)),
      ),
      exchange: results
        .flatMap(({ exchange }) => exchange ?? [])
        .reduce<MeasuredExchange | undefined>(
          (most, one) =>
            most === undefined || one.payloadBytes > most.payloadBytes ? one : most,
          undefined,
        ),
      arenaBytes: Math.max(...results.map(({ arenaBytes }) => arenaBytes)),
    };
  }

  /** The profiles of all ranks, by rank and iteration. */
  async iterate(
    exchangeOf: (rank: number) => IteratedExchange,
  ): Promise<readonly (readonly IterationProfile[])[]> {
    const results = await this.#ranks.all('iterated', (rank) => ({
      type: 'iterate',
      exchange: exchangeOf(rank),
    }));
    return results.map(({ iterations }) => iterations);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ranks[Symbol.asyncDispose]();
  }

  async #connect({ links, transport, profiled, places }: WorldOptions): Promise<void> {
    const listening = await this.#ranks.all('listening', (rank) => ({
      type: 'listen',
      rank,
      host: links.host(rank),
      transport,
    }));
    const addresses = listening.map(({ address }) => address);
    const secret = randomBytes(32);
    const connected = await this.#ranks.all('connected', () => ({
      type: 'connect',
      addresses,
      secret,
      emulated: links.emulated,
      places,
      profiled: profiled ?? false,
    }));
    this.#transport = connected[0]!.transport;
  }
}
