/** The connection between a rank and its program. */
import { failure, toErrorData } from '../../shared/errors/errors.ts';
import {
  BRIDGE_VERSION,
  programDecoder,
  type FromProgram,
  type ToProgram,
} from './messages.ts';
import { PrivateSocket, type SocketListener } from './private-socket.ts';

export type ProgramLink = PrivateSocket<FromProgram, ToProgram>;

/** @param socket from `PrivateSocket.newPath` */
export const listenToProgram = (
  socket: string,
  rank: number,
  { lost, received }: Pick<SocketListener<FromProgram, ToProgram>, 'lost' | 'received'>,
): Promise<ProgramLink> =>
  PrivateSocket.listen<FromProgram, ToProgram>(socket, {
    decoder: programDecoder(rank),
    received: (message) => {
      requireVersion(message, rank);
      received(message);
    },
    lost,
    refusal: (error) => ({ type: 'failed', error: toErrorData(error) }),
    taken: () => {
      const message = 'a second process of the program wants to join as this rank';
      const next = 'Call gradwire.join() in one process of each rank.';
      const error = failure('BRIDGE_TAKEN', message, { rank, next });
      return { type: 'failed', error: error.toData() };
    },
  });

/** @throws GradwireError `BRIDGE_VERSION` */
function requireVersion(message: FromProgram, rank: number): void {
  if (message.type !== 'hello' || message.version === BRIDGE_VERSION) return;
  const versions = `${message.version}, and that of this agent ${BRIDGE_VERSION}`;
  throw failure('BRIDGE_VERSION', `the program's gradwire speaks version ${versions}`, {
    rank,
    next: 'Install the package gradwire of the same version as the app.',
  });
}
