/**
 * Terminals on a machine. A few use the connection for everything; more get further ones, so
 * that they leave it room.
 */
import { GradwireError, inputError } from '../../shared/errors/errors.ts';
import type { SshLease } from '../ssh/pool.ts';
import type { Terminal } from '../ssh/remote-connection.ts';
import type { RemoteShell } from '../ssh/remote-stream.ts';
import type { SshRoute } from './ssh-route.ts';

/**
 * The most terminals on each SSH connection. sshd allows 10 sessions on one by default
 * (MaxSessions); the first connection needs some for checks, deployments and runs.
 */
const SHELLS_PER_CONNECTION = [4, 8, 8];

/**
 * The user's login shell at a terminal of that size. The connection is held until the
 * shell's stream has closed.
 * @throws GradwireError `TERMINAL_LIMIT` and those of the connection
 */
export async function openShell(
  route: SshRoute,
  terminal: Terminal,
  signal?: AbortSignal,
): Promise<RemoteShell> {
  let others = 0;
  for (const [further, room] of SHELLS_PER_CONNECTION.entries()) {
    const lease = await leaseForShell(route, further, others, signal);
    const { connection } = lease;
    if (connection.shells >= room) {
      others += connection.shells;
      lease[Symbol.dispose]();
      continue;
    }
    try {
      const shell = await connection.shell(terminal);
      shell.once('close', () => {
        lease[Symbol.dispose]();
      });
      return shell;
    } catch (error) {
      lease[Symbol.dispose]();
      throw error;
    }
  }
  throw terminalLimit(route.name, others, 'more are not opened');
}

/**
 * A connection for a shell.
 * @param further 0: the one that everything uses; otherwise the number of a further one
 * @param others terminals that are open on the connections before it
 */
async function leaseForShell(
  route: SshRoute,
  further: number,
  others: number,
  signal: AbortSignal | undefined,
): Promise<SshLease> {
  if (further === 0) return await route.lease({ signal });
  try {
    return await route.lease({ signal, interactive: false, further });
  } catch (error) {
    if (!(error instanceof GradwireError) || error.code === 'ABORTED') throw error;
    const why = `another needs a further SSH connection, which failed: ${error.message}`;
    throw terminalLimit(route.name, others, why);
  }
}

function terminalLimit(node: string, open: number, why: string): GradwireError {
  return inputError('TERMINAL_LIMIT', `${open} terminals are open there; ${why}`, {
    place: node,
    next: 'Close one that you do not need.',
  });
}
