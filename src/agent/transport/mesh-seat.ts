/**
 * A rank's place in a mesh to be: where its peers find it, and where their signs of life
 * do. The mesh takes both over.
 */
import { isLinkLocal } from '../../shared/link-local.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import type { PortRange } from '../../shared/port-range.ts';
import { ownAddresses, takingTurns } from './own-addresses.ts';
import { Pulse } from './pulse.ts';
import { listenCause, listenTcp, type TcpListener } from './tcp-listener.ts';

/** What the system says of an address, or a name, that is another machine's or nobody's. */
const NOT_OURS = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'ENOTFOUND', 'EAI_AGAIN'];

/** All addresses, of IPv4 too; and of IPv4 alone, where the kernel has no other. */
const ALL = '::';
const ALL_IPV4 = '0.0.0.0';
const NO_IPV6 = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'];

export interface SeatOptions {
  /** Default: the system chooses. */
  readonly ports?: PortRange | undefined;
  /**
   * Listen at the machine's own addresses where the host is none of them, as that of a jump
   * host or of a router is, or holds on one link alone; default: refuse.
   */
  readonly elsewhere?: boolean;
}

/** Where peers are to look for it: the address that was asked for, then its own. */
type Elsewhere = Required<Pick<RankAddress, 'host' | 'hosts'>>;

export class MeshSeat {
  readonly listener: TcpListener;
  readonly pulse: Pulse;

  readonly #address: RankAddress;

  private constructor(listener: TcpListener, pulse: Pulse, elsewhere?: Elsewhere) {
    this.listener = listener;
    this.pulse = pulse;
    this.#address = { ...listener.address, pulse: pulse.port, ...elsewhere };
  }

  /**
   * On ports of the range, or such as the system chooses.
   * @param host `::` for all addresses
   * @throws GradwireError `LISTEN_FAILED`, `PORTS_TAKEN`
   */
  static async listen(host: string, options: SeatOptions = {}): Promise<MeshSeat> {
    const { ports, elsewhere = false } = options;
    const own = elsewhere ? ownAddresses() : [];
    // No other machine has the zone of a link-local one.
    if ((host === ALL || isLinkLocal(host)) && own.length > 0) {
      const [first, ...others] = takingTurns(own);
      return await MeshSeat.#atAll(ports, { host: first!, hosts: others });
    }
    try {
      return await MeshSeat.#at(host, ports);
    } catch (error) {
      const cause = listenCause(error) ?? '';
      if (own.length === 0 || !NOT_OURS.includes(cause)) throw error;
      return await MeshSeat.#atAll(ports, { host, hosts: takingTurns(own, host) });
    }
  }

  /** Which of the addresses a peer can reach it finds out itself. */
  static async #atAll(
    ports: PortRange | undefined,
    elsewhere: Elsewhere,
  ): Promise<MeshSeat> {
    try {
      return await MeshSeat.#at(ALL, ports, elsewhere);
    } catch (error) {
      if (!NO_IPV6.includes(listenCause(error) ?? '')) throw error;
      return await MeshSeat.#at(ALL_IPV4, ports, elsewhere);
    }
  }

  static async #at(
    host: string,
    ports: PortRange | undefined,
    elsewhere?: Elsewhere,
  ): Promise<MeshSeat> {
    const listener = await listenTcp(host, ports);
    try {
      return new MeshSeat(listener, await Pulse.listen(host, ports), elsewhere);
    } catch (error) {
      listener.close();
      throw error;
    }
  }

  get address(): RankAddress {
    return this.#address;
  }

  /** For a rank that joins no mesh after all; afterwards it does nothing. */
  async close(): Promise<void> {
    this.listener.close();
    await this.pulse.close();
  }
}
