/**
 * Ways between ranks of machines that cannot reach each other: on the machine of the rank
 * that dials, ports of its loopback; what comes there this process passes on to the other
 * machine, over the SSH connections that it has. They are slow, and last as long as this
 * process does, so ranks try them last. What passes is what ranks would send each other:
 * they prove who they are, and encrypt, from end to end.
 */
import { pipeline, type Duplex } from 'node:stream';
import { GradwireError } from '../../shared/errors.ts';
import type { RankAddress, TunnelEntrance } from '../../shared/protocol/supervisor.ts';
import { dialsPeer } from '../../shared/rank-dialer.ts';
import type { NodeLink } from './node-link.ts';
import type { ListeningPort, PortForwarding } from './port-forwarding.ts';

/** A node with its ranks. */
export type Share = readonly [
  Pick<NodeLink, 'name' | 'forwardPorts'>,
  readonly number[],
];

const LOOPBACK = '127.0.0.1';

export class RankTunnels implements Disposable {
  readonly #addresses: readonly RankAddress[];
  readonly #forwardings = new Map<Share[0], PortForwarding>();
  readonly #ports: ListeningPort[] = [];
  readonly #streams = new Set<Duplex>();
  /** By node: the entrances there to ranks elsewhere, by rank. */
  readonly #entrances = new Map<string, Map<number, TunnelEntrance>>();
  #settled = false;

  private constructor(addresses: readonly RankAddress[]) {
    this.#addresses = addresses;
  }

  /**
   * Where a machine forwards no ports there is no tunnel, which is not an error: ranks may not
   * need one.
   * @param shares the ranks of each node
   * @param addresses of all ranks, by rank
   */
  static async open(
    shares: readonly Share[],
    addresses: readonly RankAddress[],
  ): Promise<RankTunnels> {
    const tunnels = new RankTunnels(addresses);
    if (shares.length < 2) return tunnels;
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

  /** All addresses, as the ranks of one node are to be given them. */
  addressesFor(node: string): readonly RankAddress[] {
    const entrances = this.#entrances.get(node);
    return this.#addresses.map((address, rank) => {
      const tunnel = entrances?.get(rank);
      return tunnel === undefined ? address : { ...address, tunnel };
    });
  }

  /** All ranks are connected: what none of them has taken is closed. */
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
      // Whatever ends one of them ends the other; the ranks see a connection that is lost.
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
