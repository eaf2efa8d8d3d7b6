/** Ranks in processes of their own, with signs of life, wherever a prefix starts them. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { TransportKind } from '../../../src/agent/transport/transport-choice.ts';
import type { ErrorData } from '../../../src/shared/errors.ts';
import type { FromLively, ToLively } from './lively-rank.ts';

const ENTRY = path.join(import.meta.dirname, 'lively-rank.ts');

export interface LivelyPlace {
  readonly host: string;
  /** What to put before the command so that it runs there. */
  readonly prefix: readonly string[];
}

export interface LivelyOptions {
  readonly transport: TransportKind;
  readonly encrypt?: boolean;
  readonly silenceMs?: number;
}

export class LivelyWorld implements AsyncDisposable {
  readonly ranks: readonly ChildProcess[];

  private constructor(ranks: readonly ChildProcess[]) {
    this.ranks = ranks;
  }

  static async start(
    places: readonly LivelyPlace[],
    { transport, encrypt = false, silenceMs }: LivelyOptions,
  ): Promise<LivelyWorld> {
    const world = new LivelyWorld(
      places.map(({ prefix }) => {
        const [command, ...args] = [...prefix, process.execPath, ENTRY];
        return spawn(command!, args, {
          stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
        });
      }),
    );
    try {
      const heard = await world.all((rank) => ({
        do: 'listen',
        host: places[rank]!.host,
      }));
      const addresses = heard.map((report) => {
        if (report.did !== 'listen') throw new Error(JSON.stringify(report));
        return report.address;
      });
      await world.all((rank) => ({
        do: 'join',
        ...{ rank, addresses, transport, encrypt, silenceMs },
      }));
      return world;
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
  }

  async order(rank: number, order: ToLively): Promise<FromLively> {
    const child = this.ranks[rank]!;
    const answer = once(child, 'message') as Promise<[FromLively]>;
    child.send(order);
    return (await answer)[0];
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
    return this.ranks.map(async (child) => {
      const [report] = (await once(child, 'message')) as [FromLively];
      if (report.did !== 'fail') throw new Error(JSON.stringify(report));
      return report.error;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = this.ranks.map((child) =>
      child.exitCode === null && child.signalCode === null
        ? once(child, 'exit')
        : undefined,
    );
    for (const child of this.ranks) child.kill('SIGKILL');
    await Promise.all(gone);
  }
}

/** So many ranks on this machine, as it is. */
export function here(ranks: number): LivelyPlace[] {
  return Array.from({ length: ranks }, () => ({ host: '127.0.0.1', prefix: [] }));
}
