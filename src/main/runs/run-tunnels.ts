/**
 * The tunnels of runs, between ranks of machines that cannot reach each other: loopback ports on
 * the dialling rank's machine, whose connections this process forwards to the other machine over
 * its SSH connections. They are slow and end with this process, so ranks try them last. Ranks
 * authenticate and encrypt from end to end, as on any route. Tunnels accept connections until all
 * ranks are connected, and stay until the run has ended.
 */
import { pipeline, type Duplex } from 'node:stream';
import { GradwireError } from '../../shared/errors/errors.ts';
import { dialsPeer } from '../../shared/machines/rank-dialer.ts';
import type { RankAddress, TunnelEntrance } from '../../shared/protocol/supervisor.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import type { ListeningPort, PortForwarding } from '../cluster/port-forwarding.ts';

/** A node with its ranks. */
type Share = readonly [Pick<NodeLink, 'name' | 'forwardPorts'>, readonly number[]];

const LOOPBACK = '127.0.0.1';

interface Held {
  readonly tunnels: RankTunnels;
  readonly resumed: boolean;
}

export class RunTunnels {
  readonly #held = new Map<string, Held>();
  #closed = false;

  /**
   * Opens those of a run on several machines.
   * @param resumed whether it resumes from a checkpoint: then iterations do not show that it
   * has begun
   */
  async open(
    run: string,
    shares: readonly Share[],
    addresses: readonly RankAddress[],
    resumed: boolean,
  ): Promise<RankTunnels> {
    this.#end(run);
    const tunnels = await RankTunnels.open(shares, addresses);
    if (this.#closed) tunnels[Symbol.dispose]();
    else this.#held.set(run, { tunnels, resumed });
    return tunnels;
  }

  note({ id, state, iterations }: RunSummary): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    if (hasEnded(state)) this.#end(id);
    // A recorded iteration means that all ranks are connected.
    else if (!held.resumed && iterations > 0) held.tunnels.settle();
  }

  close(): void {
    this.#closed = true;
    for (const run of this.#held.keys()) this.#end(run);
  }

  #end(run: string): void {
    this.#held.get(run)?.tunnels[Symbol.dispose]();
    this.#held.delete(run);
  }
}

/** The tunnels of one start of a run. */
class RankTunnels implements Disposable {
  readonly #addresses: readonly RankAddress[];
  readonly #forwardings = new Map<Share[0], PortForwarding>();
  readonly #ports: ListeningPort[] = [];
  readonly #streams = new Set<Duplex>();
  /** The ports on each node that lead to ranks elsewhere, by node and rank. */
  readonly #entrances = new Map<string, Map<number, TunnelEntrance>>();
  #settled = false;

  private constructor(addresses: readonly RankAddress[]) {
    this.#addresses = addresses;
  }

  /**
   * A machine that forwards no ports gets no tunnel; that is not an error, because ranks may
   * not need one.
   * @param shares the ranks of each node
   * @param addresses of all ranks, by rank
   */
  static async open(
    shares: readonly Share[],
    addresses: readonly RankAddress[],
  ): Promise<RankTunnels> {
    const tunnels = new RankTunnels(addresses);
    await Promise.all(
      shares.map(async ([node]) => {
        const ports = await orNothing(node.forwardPorts());
        if (ports !== undefined) tunnels.#forwardings.set(node, ports);
      }),
    );
    await Promise.all(
      shares.flatMap((from) =>
        shares.filter((to) => to !== from).flatMap((to) => tunnels.#open(from, to)),
      ),
    );
    return tunnels;
  }

  /** All addresses as the ranks of one node must get them. */
  addressesFor(node: string): readonly RankAddress[] {
    const entrances = this.#entrances.get(node);
    return this.#addresses.map((address, rank) => {
      const tunnel = entrances?.get(rank);
      return tunnel === undefined ? address : { ...address, tunnel };
    });
  }

  /** Called when all ranks are connected; closes unused ports. */
  settle(): void {
    if (this.#settled) return;
    this.#close();
    this.#releaseIfIdle();
  }

  [Symbol.dispose](): void {
    this.#close();
    for (const stream of this.#streams) stream.destroy();
    for (const forwarding of this.#forwardings.values()) forwarding[Symbol.dispose]();
    this.#forwardings.clear();
  }

  #open([from, callers]: Share, [to, peers]: Share): readonly Promise<void>[] {
    const here = this.#forwardings.get(from);
    const there = this.#forwardings.get(to);
    if (here === undefined || there === undefined) return [];
    const called = peers.filter((peer) =>
      callers.some((caller) => dialsPeer(this.#addresses, caller, peer)),
    );
    return called.map(async (peer) => {
      const { host, hosts, port, pulse } = this.#addresses[peer]!;
      const lead = (exit: number): Promise<ListeningPort> =>
        here.listen((stream) => {
          void this.#join(stream, there.connect(hosts?.[0] ?? host, exit));
        });
      const entrance = await orNothing(
        Promise.all([lead(port), pulse === undefined ? undefined : lead(pulse)]),
      );
      if (entrance === undefined) return;
      const [messages, signs] = entrance;
      this.#ports.push(messages, ...(signs === undefined ? [] : [signs]));
      const entrances =
        this.#entrances.get(from.name) ?? new Map<number, TunnelEntrance>();
      this.#entrances.set(from.name, entrances);
      entrances.set(peer, { host: LOOPBACK, port: messages.port, pulse: signs?.port });
    });
  }

  #close(): void {
    this.#settled = true;
    for (const port of this.#ports.splice(0)) port.close();
  }

  async #join(caller: Duplex, connecting: Promise<Duplex>): Promise<void> {
    this.#own(caller);
    try {
      const peer = await connecting;
      this.#own(peer);
      // The end of one stream ends the other; the ranks see a lost connection.
      pipeline(caller, peer, caller, () => {
        caller.destroy();
        peer.destroy();
      });
    } catch (error) {
      caller.destroy();
      if (!(error instanceof Error)) throw error;
    }
  }

  #own(stream: Duplex): void {
    this.#streams.add(stream);
    stream.on('error', () => stream.destroy());
    stream.once('close', () => {
      this.#streams.delete(stream);
      this.#releaseIfIdle();
    });
  }

  #releaseIfIdle(): void {
    if (this.#settled && this.#streams.size === 0) this[Symbol.dispose]();
  }
}

async function orNothing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof GradwireError) return undefined;
    throw error;
  }
}
