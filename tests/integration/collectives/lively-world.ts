/** Ranks in processes of their own, with signs of life, wherever a prefix starts them. */
import path from 'node:path';
import type { TransportKind } from '../../../src/agent/transport/transport-choice.ts';
import {
  RankProcess,
  type ProcessBroken,
  type ProcessExit,
} from '../../../src/agent/world/rank-process.ts';
import type { EmulatedNetwork } from '../../../src/shared/machines/emulated-network.ts';
import type { ErrorData } from '../../../src/shared/errors/errors.ts';
import type { FromLively, ToLively } from './lively-rank.ts';

const ENTRY = path.join(import.meta.dirname, 'lively-rank.ts');

type Event = FromLively | ProcessExit | ProcessBroken;

/** A rank that is asked one thing at a time. */
class LivelyRank {
  readonly #process: RankProcess<ToLively, FromLively>;
  #heard = Promise.withResolvers<Event>();

  constructor(rank: number, prefix: readonly string[]) {
    const command = { entry: ENTRY, args: [String(rank)], prefix };
    const hear = (event: Event): void => {
      this.#heard.resolve(event);
    };
    const parse = (raw: unknown): FromLively => raw as FromLively;
    this.#process = new RankProcess(rank, command, hear, { parse });
  }

  get closed(): Promise<void> {
    return this.#process.closed;
  }

  async ask(order: ToLively): Promise<FromLively> {
    this.#heard = Promise.withResolvers();
    this.#process.send(order);
    const event = await this.#heard.promise;
    if ('did' in event) return event;
    throw new Error(JSON.stringify(event));
  }

  kill(signal: NodeJS.Signals): void {
    process.kill(this.#process.pid, signal);
  }

  end(): void {
    this.#process.kill();
  }
}

export interface LivelyPlace {
  readonly host: string;
  /** What to put before the command so that it runs there. */
  readonly prefix: readonly string[];
}

export interface LivelyOptions {
  readonly transport: TransportKind;
  readonly encrypt?: boolean;
  readonly silenceMs?: number;
  readonly network?: EmulatedNetwork;
  /** The name of each rank's node; default: all are on one. */
  readonly nodes?: readonly string[];
}

/** Processes that may meet several times: `join`, then `leave`. */
export class LivelyWorld implements AsyncDisposable {
  readonly ranks: readonly LivelyRank[];

  readonly #places: readonly LivelyPlace[];

  constructor(places: readonly LivelyPlace[]) {
    this.#places = places;
    this.ranks = places.map(({ prefix }, rank) => new LivelyRank(rank, prefix));
  }

  /** Processes that may meet several times: `join`, then `leave`. */
  /** All in a mesh, which is new. */
  async join({ encrypt = false, ...options }: LivelyOptions): Promise<void> {
    const heard = await this.all((rank) => ({
      do: 'listen',
      host: this.#places[rank]!.host,
    }));
    const addresses = heard.map((report) => {
      if (report.did !== 'listen') throw new Error(JSON.stringify(report));
      return report.address;
    });
    const joined = await this.all((rank) => ({
      do: 'join',
      ...options,
      rank,
      addresses,
      encrypt,
    }));
    for (const report of joined) {
      if (report.did !== 'join') throw new Error(JSON.stringify(report));
    }
  }

  async leave(): Promise<void> {
    const left = await this.all(() => ({ do: 'leave' }));
    for (const report of left) {
      if (report.did !== 'leave') throw new Error(JSON.stringify(report));
    }
  }

  order(rank: number, order: ToLively): Promise<FromLively> {
    return this.ranks[rank]!.ask(order);
  }

  all(orderOf: (rank: number) => ToLively): Promise<FromLively[]> {
    return Promise.all(this.ranks.map((_, rank) => this.order(rank, orderOf(rank))));
  }

  /**
   * All reduce until they fail, and are at it when the call returns: what each of them
   * then ends with.
   */
  async reduceForever(): Promise<readonly Promise<ErrorData>[]> {
    await this.all(() => ({ do: 'reduce for ever' }));
    return this.ranks.map((rank) => {
      const end = endOf(rank);
      // A rank that is killed never answers, and no test waits for it.
      end.catch(() => undefined);
      return end;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const rank of this.ranks) rank.end();
    await Promise.all(this.ranks.map(({ closed }) => closed));
  }
}

async function endOf(rank: LivelyRank): Promise<ErrorData> {
  const report = await rank.ask({ do: 'await the end' });
  if (report.did === 'fail') return report.error;
  throw new Error(JSON.stringify(report));
}

/** Ranks on this machine, as it is. */
export function here(ranks: number): LivelyPlace[] {
  return Array.from({ length: ranks }, () => ({ host: '127.0.0.1', prefix: [] }));
}
