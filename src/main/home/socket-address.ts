/**
 * Connections to Unix sockets in directories with long paths. A socket's address holds 108
 * bytes on Linux and 104 on macOS, its terminator included. On Linux an open directory gives
 * any path a short name.
 */
import { closeSync, openSync } from 'node:fs';
import { connect, Socket } from 'node:net';
import path from 'node:path';

const MOST_BYTES = 103;

export const isTooLong = (socket: string): boolean =>
  Buffer.byteLength(socket) > MOST_BYTES;

/** Connects as `net.connect` does. A directory that cannot be opened is an error event too. */
export function connectTo(socket: string): Socket {
  if (process.platform !== 'linux' || !isTooLong(socket)) return connect(socket);
  let directory: number;
  try {
    directory = openSync(path.dirname(socket), 'r');
  } catch (error) {
    return new Socket().destroy(error as Error);
  }
  const connection = connect(`/proc/self/fd/${directory}/${path.basename(socket)}`);
  const settled = (): void => {
    connection.off('connect', settled).off('close', settled);
    closeSync(directory);
  };
  return connection.on('connect', settled).on('close', settled);
}
