/**
 * A rank's place in a future mesh: the listeners for its peers and for their heartbeats.
 * The mesh takes over both.
 */
import { isLinkLocal } from '../../shared/machines/link-local.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import type { PortRange } from '../../shared/machines/port-range.ts';
import { ownAddresses, takingTurns } from './own-addresses.ts';
import { Pulse } from './pulse.ts';
import { listenCause, listenTcp, type TcpListener } from './tcp-listener.ts';

/** Error codes for an address or a name that does not belong to this machine. */
const NOT_OURS = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'ENOTFOUND', 'EAI_AGAIN'];

/** All addresses, including IPv4; and all of IPv4, if the kernel has no IPv6. */
const ALL = '::';
const ALL_IPV4 = '0.0.0.0';
const NO_IPV6 = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'];

export interface SeatOptions {
  /** Ports to listen at; default: the system chooses. */
  readonly ports?: PortRange | undefined;
  /**
   * Listen at the machine's own addresses if the host is not one of them (a jump host's
   * or a router's) or is link-local; default: refuse.
   */
  readonly elsewhere?: boolean;
}

/** The places where peers should look for it: the requested address, then its own addresses. */
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
   * Listens on ports of the range, or on ports that the system chooses.
   * @param host `::` for all addresses
   * @throws GradwireError `LISTEN_FAILED`, `PORTS_TAKEN`
   */
  static async listen(host: string, options: SeatOptions = {}): Promise<MeshSeat> {
    const { ports, elsewhere = false } = options;
    const own = elsewhere ? ownAddresses() : [];
    // The zone of a link-local address means nothing on other machines.
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

  /** Each peer finds out which of the addresses it can reach. */
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

  /**
   * Closes a rank's seat if it joins no mesh after all; does nothing once a mesh has taken over.
   */
  async close(): Promise<void> {
    this.listener.close();
    await this.pulse.close();
  }
}
