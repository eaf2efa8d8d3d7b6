/** Sockets of the programs that tests start. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';

/** Whether somebody listens at a Unix socket: its file is there a moment before. */
export async function takesConnections(file: string): Promise<boolean> {
  const socket = net.connect(file);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** SO_ACCEPTCON, in the table of the kernel. */
const LISTENING = '00010000';

/** The same without a connection, on Linux. */
export function isListening(file: string): boolean {
  return readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/ +/))
    .some(([, , , flags, , , , bound]) => flags === LISTENING && bound === file);
}
