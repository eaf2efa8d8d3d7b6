/**
 * The place where one rank waits for its peers: a TCP port, and on Linux a Unix socket beside it
 * for ranks of the same machine. Connections that arrive before the rank knows its run are held
 * unread until `attach` names their handler.
 *
 * Anyone who reaches the port can connect, so connections that have not proved their
 * membership are limited. Beyond the limit the address with the most of them loses its oldest:
 * a stranger who opens thousands loses its own, and ranks at other addresses lose none.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { hostname } from 'node:os';
import {
  createServer,
  type AddressInfo,
  type ListenOptions,
  type Server,
  type Socket,
} from 'node:net';
import { failure, GradwireError } from '../../shared/errors/errors.ts';
import { systemLimit } from '../../shared/errors/system-limit.ts';
import type { PortRange } from '../../shared/machines/port-range.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';

/** The largest world: all of its ranks may call before this one knows its run. */
const MOST_STRANGERS = 1024;
const BACKLOG = 1024;
/** The address of connections by the Unix socket. */
const HERE = 'here';

export class TcpListener {
  readonly address: RankAddress;
  readonly #servers: readonly Server[];
  readonly #held = new Set<Socket>();
  /** Connections without a proof, by the address that they come from, the oldest first. */
  readonly #strangers = new Map<string, Set<Socket>>();
  #strangerCount = 0;
  #accept: ((socket: Socket) => void) | undefined;
  #trouble: string | undefined;

  /** @param servers listen already; owned from here on. */
  constructor(servers: readonly Server[], address: RankAddress) {
    this.#servers = servers;
    this.address = address;
    for (const server of servers) {
      server.on('connection', (socket) => {
        this.#admit(socket);
        if (this.#accept !== undefined) this.#accept(socket);
        else this.#hold(socket);
      });
      // For example, file descriptors ran out: one connection is lost, listening
      // continues.
      server.on('error', (cause) => {
        this.#trouble = cause.message;
      });
    }
  }

  /** Hands every connection, held or future, to `accept`, which owns it. */
  attach(accept: (socket: Socket) => void): void {
    this.#accept = accept;
    for (const socket of this.#held) {
      socket.off('error', drop);
      accept(socket);
    }
    this.#held.clear();
  }

  /** The peer has proved its membership: its connection no longer counts as a stranger's. */
  introduced(socket: Socket): void {
    for (const sockets of this.#strangers.values()) {
      if (sockets.delete(socket)) this.#strangerCount--;
    }
  }

  /** The last connection that the system could not hand over, if there was one. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /**
   * Stops listening and closes connections that are still held. Accepted ones stay open.
   */
  close(): void {
    for (const socket of this.#held) socket.destroy();
    this.#held.clear();
    for (const server of this.#servers) if (server.listening) server.close();
  }

  #admit(socket: Socket): void {
    const from = socket.remoteAddress ?? HERE;
    const others = this.#strangers.get(from) ?? new Set();
    this.#strangers.set(from, others.add(socket));
    this.#strangerCount++;
    socket.once('close', () => {
      if (others.delete(socket)) this.#strangerCount--;
      if (others.size === 0 && this.#strangers.get(from) === others) {
        this.#strangers.delete(from);
      }
    });
    if (this.#strangerCount <= MOST_STRANGERS) return;
    const crowd = [...this.#strangers.values()].reduce((most, sockets) =>
      sockets.size > most.size ? sockets : most,
    );
    const [oldest] = crowd;
    crowd.delete(oldest!);
    this.#strangerCount--;
    oldest!.destroy();
  }

  #hold(socket: Socket): void {
    this.#held.add(socket);
    socket.on('error', drop);
    socket.once('close', () => this.#held.delete(socket));
  }
}

function drop(this: Socket): void {
  this.destroy();
}

/**
 * Listen on `host`, on a port of the range, or one that the system chooses.
 * @throws GradwireError `LISTEN_FAILED`, `PORTS_TAKEN`
 */
export async function listenTcp(host: string, ports?: PortRange): Promise<TcpListener> {
  const server =
    ports === undefined
      ? await listen({ host, port: 0 })
      : await listenWithin(host, ports);
  const { port } = server.address() as AddressInfo;
  if (process.platform !== 'linux') return new TcpListener([server], { host, port });
  // A name of Linux's abstract kind: it is not a file, and disappears with its socket.
  const local = `\0gradwire-${randomBytes(16).toString('hex')}`;
  try {
    const servers = [server, await listen({ path: local })];
    return new TcpListener(servers, { host, port, local });
  } catch (error) {
    server.close();
    throw error;
  }
}

/** Starts at a random port, so that ranks that start at once ask for different ones. */
async function listenWithin(host: string, { first, last }: PortRange): Promise<Server> {
  const count = last - first + 1;
  const begin = randomInt(count);
  for (let offset = 0; offset < count; offset++) {
    const port = first + ((begin + offset) % count);
    try {
      return await listen({ host, port });
    } catch (error) {
      if (listenCause(error) !== 'EADDRINUSE' && listenCause(error) !== 'EACCES')
        throw error;
    }
  }
  throw failure(
    'PORTS_TAKEN',
    `all ports ${first}-${last} of ${hostname()} are taken`,
    {
      next: 'A rank needs two ports. Give the machine a wider range, or end the processes that use them.',
    },
  );
}

/**
 * Returns why the system refused to listen, such as `EADDRNOTAVAIL`; undefined for any other error.
 */
export const listenCause = (error: unknown): string | undefined =>
  error instanceof GradwireError
    ? (error.cause as NodeJS.ErrnoException | undefined)?.code
    : undefined;

function listen(where: ListenOptions): Promise<Server> {
  // Paused: nothing is read from a socket before the handshake begins.
  const server = createServer({ noDelay: true, pauseOnConnect: true });
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  server.once('error', (cause) => {
    const place = where.host ?? 'a Unix socket';
    const { code, kind, message, next } = failure(
      'LISTEN_FAILED',
      `cannot listen on ${place}: ${cause.message}`,
      {
        next:
          systemLimit(cause)?.next ??
          'Set an address that belongs to one of the machine’s interfaces ' +
            '(gradwire nodes edit NAME --address).',
      },
    );
    reject(new GradwireError({ code, kind, message, next }, { cause }));
  });
  server.listen({ ...where, backlog: BACKLOG }, () => {
    server.removeAllListeners('error');
    resolve(server);
  });
  return promise;
}
