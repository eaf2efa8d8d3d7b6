/**
 * A port of the host whose connections arrive here, through the system's `ssh`: it reports
 * neither the port that the host chose nor whether the host listens, so we choose one and
 * check that a connection to it comes back.
 */
import { randomInt } from 'node:crypto';
import { failure, GradwireError } from '../../shared/errors/errors.ts';
import type { MuxChannel } from './mux/mux-channel.ts';
import type { MuxProxy } from './mux/mux-proxy.ts';
import type { RemotePort } from './remote-connection.ts';
import type { RemoteStream } from './remote-stream.ts';
import { placeOf, type SshTarget } from './target.ts';

const LOOPBACK = '127.0.0.1';
/** The dynamic ports (RFC 6335), among which a free one is soon found. */
const DYNAMIC_PORTS = [49_152, 65_536] as const;
const PORTS_TRIED = 8;
/**
 * Most time for a connection to the port to arrive here; after that another program has the
 * port.
 */
const RETURN_MS = 5000;
/** The ways through one connection that a port needs. */
interface PortRoute {
  readonly target: SshTarget;
  readonly proxy: MuxProxy;
  readonly toStream: (channel: MuxChannel) => RemoteStream;
  /** Connects to a port as the host sees it. */
  readonly forward: (host: string, port: number) => Promise<RemoteStream>;
}

/**
 * Listens on a free port of the host.
 * @throws GradwireError `SSH_CHANNEL_REFUSED`, and those of a lost connection
 */
export async function listenThere(
  route: PortRoute,
  accept: (stream: RemoteStream) => void,
): Promise<RemotePort> {
  const { target, proxy, toStream } = route;
  let why = 'connections to it are not forwarded';
  for (let tried = 0; tried < PORTS_TRIED; tried++) {
    const port = randomInt(...DYNAMIC_PORTS);
    try {
      if (await comesBack(route, port)) {
        proxy.accept(port, (channel) => {
          accept(toStream(channel));
        });
        return {
          port,
          close: () => {
            proxy.refuse(port);
          },
        };
      }
    } catch (error) {
      if (!(error instanceof GradwireError) || error.code !== 'SSH_CHANNEL_REFUSED') {
        throw error;
      }
      why = error.message;
    }
    proxy.refuse(port);
  }
  throw failure(
    'SSH_CHANNEL_REFUSED',
    `the host does not forward a port to this computer: ${why}`,
    {
      place: placeOf(target),
      next: 'Its server may forbid it (AllowTcpForwarding, DisableForwarding in sshd_config).',
    },
  );
}

/** Whether a connection to the requested port of the host arrives here. */
async function comesBack(
  { proxy, forward }: PortRoute,
  port: number,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<MuxChannel | undefined>();
  proxy.listen(port, resolve);
  const stream = await forward(LOOPBACK, port);
  // The connection may be lost meanwhile, and another program may hang up.
  stream.on('error', () => undefined);
  stream.once('close', () => {
    resolve(undefined);
  });
  stream.resume();
  const patience = setTimeout(resolve, RETURN_MS, undefined);
  const channel = await promise;
  clearTimeout(patience);
  stream.destroy();
  channel?.close();
  return channel !== undefined;
}
