/** Sockets of the programs that tests start. */
import { once } from 'node:events';
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
