/**
 * One rank's part in asynchronous training: a worker with its lines to S servers, one of which
 * may be its own. The servers are the same ranks as for the collective `parameter-server`; each
 * has one of S adjacent ranges of the weights.
 */
import { partRanges } from '../collectives/partition.ts';
import { onOneNode } from '../collectives/ranks-by-node.ts';
import { serverRanks } from '../collectives/server-ranks.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { Arena, Vector } from '../memory/arena.ts';
import type { Payload } from '../memory/payload.ts';
import type { FlatTensor } from '../plan/buckets.ts';
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import type { Reply } from './orders.ts';
import { PeerLine, type LineOptions } from './peer-line.ts';
import { ServerClient, type PullRequest, type PushEnd } from './server-client.ts';
import { WeightServer, type ServerSettings } from './weight-server.ts';

export interface AsynchronousSettings extends ServerSettings {
  /** S, the number of servers. */
  readonly servers: number;
  /** Iterations between two drains of a rank's residual, on average; default: none. */
  readonly drainEvery?: number | undefined;
}

export interface ServedWeightsOptions extends LineOptions {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly seed: number;
  readonly tensors: readonly FlatTensor[];
  readonly plan: ExchangePlan;
  /** The node of each rank; default: all are on one. */
  readonly places?: readonly number[] | undefined;
  readonly settings: AsynchronousSettings;
  /**
   * All weights, flat: their initial values, and their destination when all ranks meet.
   */
  readonly weights: Vector;
  /** Saved state of this rank's server; default: training begins. */
  readonly velocities?: readonly Float32Array[] | undefined;
  /** Attributes work to the phase `reduce`. */
  readonly reduce: <T>(work: () => T) => T;
}

export class ServedWeights implements Disposable {
  readonly #server: WeightServer | undefined;
  readonly #client: ServerClient;
  readonly #weights: Vector;

  constructor(options: ServedWeightsOptions) {
    const { arena, places, settings, transport, velocities, weights } = options;
    const { rank, size } = transport;
    this.#weights = weights;
    const ranks = serverRanks(places ?? onOneNode(size), settings.servers);
    const ranges = partRanges(weights.length, ranks.length);
    const lines = Array.from({ length: size }, (_, peer) =>
      peer === rank ? undefined : new PeerLine(peer, options),
    );
    const range = ranges[ranks.indexOf(rank)];
    if (range !== undefined) {
      const end = range.start + range.length;
      const own = arena.f32(weights).subarray(range.start, end);
      const isFirst = rank === ranks[0];
      const held = { range, weights: own, isFirst };
      this.#server = new WeightServer({ ...options, ...held, lines });
      for (const [index, velocity] of this.#server.velocities.entries()) {
        if (velocities !== undefined) velocity.set(velocities[index]!);
      }
    }
    this.#client = new ServerClient({
      ...options,
      rank,
      lines,
      own: this.#server,
      serverLinks: ranks.map((server, index) => ({
        range: ranges[index]!,
        line: lines[server],
      })),
    });
  }

  /**
   * The state of this rank's server, between two exchanges; none if it is not a server.
   */
  get velocities(): readonly Float32Array[] {
    return this.#server?.velocities ?? [];
  }

  /** All ranks begin this iteration; a pull announces the next meeting. */
  open(iteration: number): void {
    this.#server?.open(iteration);
  }

  /** Pushes a payload, as in `ServerClient`. */
  push(
    bucket: { readonly index: number; readonly length: number },
    payload: Payload,
    of: { readonly iteration: number; readonly lr: number },
  ): Promise<void> {
    return this.#client.push(bucket, payload, of);
  }

  pushLeftover(leftover: Vector, lr: number): Promise<void> {
    return this.#client.pushLeftover(leftover, lr);
  }

  pushed(end: PushEnd): Promise<void> {
    return this.#client.pushed(end);
  }

  pushedAndAsk(end: PushEnd, ask: PullRequest): Promise<Reply> {
    return this.#client.pushedAndAsk(end, ask);
  }

  ask(ask: PullRequest): Promise<Reply> {
    return this.#client.ask(ask);
  }

  meet(): Promise<void> {
    return this.#client.meet(this.#weights);
  }

  /** Adopts the next plan, while all ranks meet. */
  replan(plan: ExchangePlan): void {
    this.#server?.replan(plan);
    this.#client.replan(plan);
  }

  [Symbol.dispose](): void {
    this.#server?.[Symbol.dispose]();
  }
}
