/**
 * The supervisor of this computer: connects to a running one, or starts one. It ends by itself
 * when it has neither a client nor a live run.
 */
import type { Socket } from 'node:net';
import { failure, GradwireError } from '../../shared/errors/errors.ts';
import { systemLimit } from '../../shared/errors/system-limit.ts';
import { toldError } from '../../shared/protocol/sent-error.ts';
import {
  listened,
  startSupervisor,
  type Started,
} from '../../process/supervisor-start.ts';
import type { Home } from '../home/home.ts';
import { agentBundle } from '../home/installation.ts';
import { nodeBinary } from '../home/node-binary.ts';
import { connectTo } from '../home/socket-address.ts';
import { ControlConnection, type ConnectionHandlers } from './control-connection.ts';

/**
 * A connection to the supervisor on the home's socket, if one listens there.
 * @throws GradwireError `OPEN_FILES_LIMIT`, `PROTOCOL_MISMATCH`, `SUPERVISOR_TIMEOUT`, `SUPERVISOR_UNREACHABLE`
 */
export async function connectSupervisor(
  home: Home,
  handlers: ConnectionHandlers,
): Promise<ControlConnection | undefined> {
  const former = home.formerSocket;
  const socket =
    (await dial(home.socket)) ??
    (former === undefined ? undefined : await dial(former));
  if (socket === undefined) return undefined;
  try {
    return await ControlConnection.open(socket, handlers);
  } catch (error) {
    // It was shutting down and no longer listens.
    if (error instanceof GradwireError && error.code === 'SUPERVISOR_LOST') {
      return undefined;
    }
    throw error;
  }
}

/**
 * A connection to the home's supervisor, which is started if none listens.
 * @throws GradwireError as `connectSupervisor`, `SUPERVISOR_START_FAILED`, and why one must
 * not start: `HOME_HELD_ELSEWHERE`, `HOME_LOCK_DAMAGED`, `SUPERVISOR_UNREACHABLE`
 */
export async function ensureSupervisor(
  home: Home,
  handlers: ConnectionHandlers,
): Promise<ControlConnection> {
  const running = await connectSupervisor(home, handlers);
  if (running !== undefined) return running;

  const started = await startSupervisor(
    {
      node: nodeBinary(),
      entry: agentBundle('supervisor.js'),
      home: home.directory,
      socket: home.socket,
      log: home.supervisorLog,
    },
    () => connectSupervisor(home, handlers),
  );
  if (started.kind === 'connected') return started.connection;
  throw startError(started, home);
}

function startError(
  started: Exclude<Started<unknown>, { readonly kind: 'connected' }>,
  home: Home,
): GradwireError {
  const { kind } = started;
  const refusal = kind === 'refused' ? toldError(started.line) : undefined;
  if (refusal !== undefined) return new GradwireError(refusal);
  const message = kind === 'refused' ? started.line.trim() : started.message;
  return failure('SUPERVISOR_START_FAILED', message, {
    place: home.socket,
    next: `Its log: ${home.supervisorLog}.`,
  });
}

async function dial(path: string): Promise<Socket | undefined> {
  try {
    return await listened(connectTo(path));
  } catch (error) {
    const limit = systemLimit(error);
    if (limit !== undefined) throw new GradwireError({ ...limit, place: path });
    throw failure(
      'SUPERVISOR_UNREACHABLE',
      `cannot connect: ${(error as Error).message}`,
      {
        place: path,
        next: 'Check that you may read and write the home directory.',
      },
    );
  }
}
