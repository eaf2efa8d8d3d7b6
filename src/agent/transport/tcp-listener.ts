/**
 * The port on which one rank waits for its peers. Connections that come before the rank
 * knows its run are held unread, a bounded number of them, until `attach` says who deals
 * with them.
 */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { failure } from '../../shared/errors.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';

/** Twice the largest world: room for impostors, but not for any number of them. */
const MAX_CONNECTIONS = 2048;

export class TcpListener {
  readonly address: RankAddress;
  readonly #server: Server;
  readonly #held = new Set<Socket>();
  #accept: ((socket: Socket) => void) | undefined;
  #trouble: string | undefined;

  /** @param server listens already; owned from here on. */
  constructor(server: Server, address: RankAddress) {
    this.#server = server;
    this.address = address;
    server.on('connection', (socket) => {
      if (this.#accept !== undefined) this.#accept(socket);
      else this.#hold(socket);
    });
    // Such as out of file descriptors: one connection is lost, listening goes on.
    server.on('error', (cause) => {
      this.#trouble = cause.message;
    });
  }

  /** Hand every connection, held or to come, to `accept`, which owns it. */
  attach(accept: (socket: Socket) => void): void {
    this.#accept = accept;
    for (const socket of this.#held) {
      socket.removeAllListeners();
      accept(socket);
    }
    this.#held.clear();
  }

  /** The last connection that the system could not hand over, where there was one. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Stop listening and drop what is still held. Accepted connections live on. */
  close(): void {
    for (const socket of this.#held) socket.destroy();
    this.#held.clear();
    if (this.#server.listening) this.#server.close();
  }

  #hold(socket: Socket): void {
    this.#held.add(socket);
    socket.once('error', () => {
      socket.destroy();
    });
    socket.once('close', () => this.#held.delete(socket));
  }
}

/**
 * Listen on `host`, on a port that the system chooses.
 * @throws GradwireError `LISTEN_FAILED`
 */
export function listenTcp(host: string): Promise<TcpListener> {
  // Paused: nothing is read from a socket before the handshake begins.
  const server = createServer({ noDelay: true, pauseOnConnect: true });
  server.maxConnections = MAX_CONNECTIONS;
  const { promise, resolve, reject } = Promise.withResolvers<TcpListener>();
  server.once('error', (cause) => {
    reject(
      failure('LISTEN_FAILED', `cannot listen on ${host}: ${cause.message}`, {
        next: 'Give the node an address that belongs to one of its interfaces.',
      }),
    );
  });
  server.listen({ host, port: 0, backlog: 1024 }, () => {
    server.removeAllListeners('error');
    const { port } = server.address() as AddressInfo;
    resolve(new TcpListener(server, { host, port }));
  });
  return promise;
}
