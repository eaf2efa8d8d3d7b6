/**
 * A world of rank processes for the benchmark, on loopback or each in its own namespace.
 * Processes live as long as the world: memory and code are warm from cell to cell.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { profileOf } from '../../src/agent/probe/measure-network.ts';
import type { NetworkCost } from '../../src/shared/cost-model/network-cost.ts';
import { networkCostOf } from '../../src/shared/cost-model/network-profile.ts';
import { failure, GradwireError } from '../../src/shared/errors.ts';
import type { Links } from './links.ts';
import type {
  Cell,
  Connected,
  FromRank,
  Iterated,
  IteratedExchange,
  IterationProfile,
  Listening,
  Measured,
  MeasuredExchange,
  Probed,
  ToRank,
} from './rank-protocol.ts';
import type { TransportChoice } from './rank-transport.ts';

const entry = path.join(import.meta.dirname, 'rank-main.ts');

export interface WorldOptions {
  readonly ranks: number;
  readonly links: Links;
  readonly transport: TransportChoice;
  readonly profiled?: boolean;
}

export interface CellResult {
  /** Milliseconds by repetition: the slowest rank's. */
  readonly times: readonly number[];
  /** Of the rank that sends most, where it was checked. */
  readonly exchange: MeasuredExchange | undefined;
  /** Of the rank that has most. */
  readonly arenaBytes: number;
}

export class RankWorld implements AsyncDisposable {
  readonly size: number;
  readonly links: Links;
  readonly #children: readonly ChildProcess[];
  readonly #failure: Promise<never>;
  #closing = false;
  #transport = '';

  /** @throws GradwireError of a rank */
  static async start(options: WorldOptions): Promise<RankWorld> {
    const world = new RankWorld(options);
    try {
      await world.#connect(options);
      return world;
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor({ ranks, links }: WorldOptions) {
    this.size = ranks;
    this.links = links;
    const { promise, reject } = Promise.withResolvers<never>();
    this.#failure = promise;
    // Whoever awaits an answer is told; between two nobody is.
    promise.catch(() => undefined);
    this.#children = Array.from({ length: ranks }, (_, rank) => {
      const argv = [...links.prefix(rank), process.execPath, entry];
      const child = spawn(argv[0]!, argv.slice(1), {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        serialization: 'advanced',
      });
      const dead = (why: string): void => {
        if (this.#closing) return;
        reject(failure('WORKER_DIED', `rank ${rank} ${why}`, { rank }));
      };
      child.on('error', (error) => {
        dead(`did not start: ${error.message}`);
      });
      child.on('exit', (code, signal) => {
        dead(signal === null ? `exited with code ${code}` : `was killed by ${signal}`);
      });
      return child;
    });
  }

  /** The transport in use. */
  get transport(): string {
    return this.#transport;
  }

  /** What messages cost on these links, all ranks at once, and what the kernels take. */
  async networkCost(): Promise<NetworkCost> {
    const probed = await this.#all<Probed>(() => ({ type: 'probe' }));
    const profile = profileOf(
      probed.map(({ timings }) => timings),
      {
        ...{ transport: this.#transport, measuredAt: Date.now() },
        nodes: probed.map((_, rank) => this.links.host(rank)),
      },
    );
    return networkCostOf(profile, this.size);
  }

  /** @throws GradwireError of a rank, `RESULT_WRONG`, `WORKER_DIED` */
  async measure(cell: Cell): Promise<CellResult> {
    const results = await this.#all<Measured>(() => ({ type: 'measure', cell }));
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
    const results = await this.#all<Iterated>((rank) => ({
      type: 'iterate',
      exchange: exchangeOf(rank),
    }));
    return results.map(({ iterations }) => iterations);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    await Promise.all(
      this.#children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const ended = once(child, 'exit');
        // One that sits in a collective whose peers are gone does not hear of it.
        if (child.connected) child.disconnect();
        else child.kill('SIGKILL');
        await ended;
      }),
    );
  }

  async #connect({ links, transport, profiled }: WorldOptions): Promise<void> {
    const listening = await this.#all<Listening>((rank) => ({
      type: 'listen',
      rank,
      host: links.host(rank),
      transport,
    }));
    const addresses = listening.map(({ address }) => address);
    const secret = randomBytes(32);
    const connected = await this.#all<Connected>(() => ({
      type: 'connect',
      addresses,
      secret,
      profiled: profiled ?? false,
    }));
    this.#transport = connected[0]!.transport;
  }

  async #all<Report extends FromRank>(
    orderOf: (rank: number) => ToRank,
  ): Promise<readonly Report[]> {
    const answers = this.#children.map(async (child, rank) => {
      const answered = once(child, 'message');
      child.send(orderOf(rank));
      const [report] = (await answered) as [FromRank];
      if (report.type !== 'failed') return report as Report;
      throw new GradwireError({ rank, ...report.error });
    });
    return await Promise.race([Promise.all(answers), this.#failure]);
  }
}
