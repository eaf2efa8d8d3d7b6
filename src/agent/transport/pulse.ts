/**
 * Heartbeats between ranks, from a dedicated thread: a rank that computes for a minute
 * still sends them, but a stopped process, a machine that is down or a cut link does not,
 * even if the kernel at the other end still acknowledges packets
 * (docs/decisions/016-signs-of-life.md). They have their own connections, established and
 * authenticated like those of the data plane.
 *
 *     engine or trainer  ◄── "rank 2 is silent" ──  pulse thread  ◄─ a byte ─►  theirs
 */
import { Worker } from 'node:worker_threads';
import { failure, GradwireError, type ErrorData } from '../../shared/errors/errors.ts';
import type { PortRange } from '../../shared/machines/port-range.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import { bundledFile } from '../bundle/bundled-file.ts';
import type { PulseChange } from './pulse-watch.ts';

const THREAD = { bundle: 'pulse-thread.js', source: 'pulse-thread.ts' };

/** Host and ports at which the thread listens. */
export interface PulsePlace {
  readonly host: string;
  readonly ports: PortRange | undefined;
}

/** The thread's only order: which peers to watch. */
export interface PulseOrder {
  readonly rank: number;
  /** The addresses of all ranks' pulses, by rank. */
  readonly addresses: readonly RankAddress[];
  readonly runId: string;
  readonly secret: Uint8Array;
  /** Time within which all must have connected. */
  readonly timeoutMs: number;
  /** Time for which a rank may be silent. */
  readonly silenceMs: number;
}

export type FromPulse =
  | { readonly type: 'listening'; readonly port: number }
  | { readonly type: 'begun' }
  | { readonly type: 'change'; readonly change: PulseChange }
  | { readonly type: 'failed'; readonly error: ErrorData };

export type SilenceListener = (rank: number, silent: boolean) => void;

export class Pulse {
  /** The port on which the thread listens, at the rank's own address. */
  readonly port: number;
  readonly #thread: Worker;
  readonly #silent = new Set<number>();
  #listener: SilenceListener | undefined;
  #closed: Promise<void> | undefined;

  private constructor(thread: Worker, port: number) {
    this.#thread = thread;
    this.port = port;
  }

  /**
   * Starts the thread, which listens on a port of the range, or on one that the system
   * chooses.
   * @throws GradwireError `LISTEN_FAILED`, `PORTS_TAKEN`
   */
  static async listen(host: string, ports?: PortRange): Promise<Pulse> {
    const script = bundledFile(THREAD, import.meta.dirname);
    const place: PulsePlace = { host, ports };
    const thread = new Worker(script, { workerData: place, name: 'pulse' });
    try {
      const said = await answer(thread);
      if (said.type !== 'listening')
        throw new Error(`internal: pulse said ${said.type}`);
      return new Pulse(thread, said.port);
    } catch (error) {
      await thread.terminate();
      throw error;
    }
  }

  /**
   * Resolves when all ranks are watched.
   * @throws GradwireError as `linkMesh`
   */
  async begin(order: PulseOrder): Promise<void> {
    this.#thread.postMessage({ ...order, runId: `${order.runId} pulse` });
    const said = await answer(this.#thread);
    if (said.type !== 'begun') throw new Error(`internal: pulse said ${said.type}`);
    this.#thread.on('message', (message: FromPulse) => {
      if (message.type !== 'change') return;
      const { rank, state } = message.change;
      if (state === 'silent') this.#silent.add(rank);
      else this.#silent.delete(rank);
      this.#listener?.(rank, state === 'silent');
    });
  }

  /** Calls back for every rank that is silent, falls silent or is heard again. */
  follow(listener: SilenceListener): void {
    this.#listener = listener;
    for (const rank of this.#silent) listener(rank, true);
  }

  /** Stops sending heartbeats and watching peers. */
  close(): Promise<void> {
    this.#listener = undefined;
    this.#closed ??= this.#thread.terminate().then(() => undefined);
    return this.#closed;
  }
}

/** The thread's next message. */
function answer(thread: Worker): Promise<FromPulse> {
  const { promise, resolve, reject } = Promise.withResolvers<FromPulse>();
  const settle = (end: () => void): void => {
    thread.off('message', said);
    thread.off('error', reject);
    thread.off('exit', exited);
    end();
  };
  const said = (message: FromPulse): void => {
    settle(() => {
      if (message.type === 'failed') reject(new GradwireError(message.error));
      else resolve(message);
    });
  };
  const exited = (): void => {
    settle(() => {
      reject(failure('ABORTED', 'the pulse was closed before it started'));
    });
  };
  thread.on('message', said);
  thread.on('error', reject);
  thread.on('exit', exited);
  return promise;
}
