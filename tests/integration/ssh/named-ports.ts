/** Ports of a host that listen for us, each of which says its name. */
import net from 'node:net';
import { text } from 'node:stream/consumers';
import type {
  RemoteConnection,
  RemotePort,
} from '../../../src/main/ssh/remote-connection.ts';

export const listenAs = (
  connection: RemoteConnection,
  names: readonly string[],
): Promise<readonly RemotePort[]> =>
  Promise.all(
    names.map((name) =>
      connection.listen((stream) => {
        stream.end(name);
      }),
    ),
  );

/** What is said there. @throws as a socket does */
export const hear = ({ port }: RemotePort): Promise<string> =>
  text(net.connect(port, '127.0.0.1'));
