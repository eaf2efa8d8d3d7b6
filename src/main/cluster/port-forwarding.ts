/**
 * Streams to and from ports of a node, through its connection, and ports of this
 * computer.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

/** A port that listens for us. */
export interface ListeningPort {
  readonly port: number;
  /** Accepts no more connections; existing streams stay. */
  close(): void;
}

/** Valid until disposed of; its streams may not outlive it. */
export interface PortForwarding extends Disposable {
  /**
   * A port on the node's loopback; connections to it are passed to `accept`.
   * @throws GradwireError `SSH_CHANNEL_REFUSED` if the node forwards no ports
   */
  listen(accept: (stream: Duplex) => void): Promise<ListeningPort>;
  /** A connection from the node to an address that it reaches. */
  connect(host: string, port: number): Promise<Duplex>;
}

const LOOPBACK = '127.0.0.1';

/** Ports of this computer, where nothing has to be forwarded. */
export function ownPorts(): PortForwarding {
  return {
    listen: async (accept) => {
      const server = createServer({ noDelay: true }, accept);
      server.listen({ host: LOOPBACK, port: 0 });
      await once(server, 'listening');
      return {
        port: (server.address() as AddressInfo).port,
        close: () => {
          server.close();
        },
      };
    },
    connect: async (host, port) => {
      const socket = connect({ host, port, noDelay: true });
      await once(socket, 'connect');
      return socket;
    },
    [Symbol.dispose]: () => undefined,
  };
}
