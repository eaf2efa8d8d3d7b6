/**
 * A process's claim to a GPU, which other processes of this machine respect, including
 * those of other runs, supervisors and users: a name in Linux's abstract socket
 * namespace, which only one process can have at a time and which becomes free when that
 * process is gone, however it ended. Containers and network namespaces have their own
 * names.
 *
 * Any local user can take a name. The socket listens, so that whoever finds it taken can ask
 * the system whose it is: it tells that of a connection, to any user (SO_PEERCRED, unix(7)).
 * Nothing is ever accepted or sent.
 */
import type * as Koffi from 'koffi';
import { constants } from 'node:os';
import type { ClaimHolder } from './claim-holder.ts';

const NAME = 'gradwire-gpu ';
const AF_UNIX = 1;
/** SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK */
const SOCKET_TYPE = 0o2004001;
/** Each question stays in the queue; beyond it the system refuses to answer more. */
const MOST_QUESTIONS = 4096;
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
/** struct ucred: the ids of process, user and group. */
const CREDENTIALS_BYTES = 12;

/** Whether this process has it now, or who has it. */
export type Claim =
  | {
      readonly kind: 'claimed';
      /** Lets other processes have it. */
      readonly giveBack: () => void;
    }
  | { readonly kind: 'held'; readonly holder: ClaimHolder };

interface Sockets {
  socket(domain: number, type: number, protocol: number): number;
  bind(descriptor: number, address: number, bytes: number): number;
  listen(descriptor: number, backlog: number): number;
  connect(descriptor: number, address: number, bytes: number): number;
  getsockopt(
    descriptor: number,
    level: number,
    option: number,
    value: number,
    bytes: number,
  ): number;
  close(descriptor: number): number;
}

/**
 * @param addressOf of a buffer's first byte
 * @returns a function that claims the GPU of this id until it is given back or the process
 * ends, and throws if names cannot be claimed
 */
export function gpuClaims(
  koffi: typeof Koffi,
  addressOf: (buffer: Buffer) => number,
): (id: string) => Claim {
  const sockets = bindSockets(koffi);
  const claimed = new Map<string, Claim>();
  return (id) => {
    const own = claimed.get(id);
    if (own !== undefined) return own;
    // sockaddr_un: the family, then a name that begins with a zero byte.
    const name = Buffer.alloc(3 + NAME.length + id.length);
    name.writeUInt16LE(AF_UNIX);
    name.write(`${NAME}${id}`, 3, 'latin1');
    const descriptor = sockets.socket(AF_UNIX, SOCKET_TYPE, 0);
    if (descriptor < 0) throw refused(koffi.errno());
    if (sockets.bind(descriptor, addressOf(name), name.length) === 0) {
      sockets.listen(descriptor, MOST_QUESTIONS);
      const claim: Claim = {
        kind: 'claimed',
        giveBack: () => {
          if (claimed.delete(id)) sockets.close(descriptor);
        },
      };
      claimed.set(id, claim);
      return claim;
    }
    const error = koffi.errno();
    sockets.close(descriptor);
    if (error !== constants.errno.EADDRINUSE) throw refused(error);
    return { kind: 'held', holder: holderOf(sockets, name, addressOf) };
  };
}

/** Finds the holder; empty if it does not listen, as other programs and older versions do not. */
function holderOf(
  sockets: Sockets,
  name: Buffer,
  addressOf: (buffer: Buffer) => number,
): ClaimHolder {
  const descriptor = sockets.socket(AF_UNIX, SOCKET_TYPE, 0);
  if (descriptor < 0) return {};
  try {
    if (sockets.connect(descriptor, addressOf(name), name.length) !== 0) return {};
    const value = Buffer.alloc(CREDENTIALS_BYTES);
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value.length);
    const [into, size] = [addressOf(value), addressOf(bytes)];
    if (sockets.getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, into, size) !== 0) {
      return {};
    }
    // A process outside this container has the id 0 here.
    const pid = value.readInt32LE(0);
    return { ...(pid > 0 ? { pid } : {}), uid: value.readUInt32LE(4) };
  } finally {
    sockets.close(descriptor);
  }
}

function bindSockets(koffi: typeof Koffi): Sockets {
  const libc = koffi.load(null);
  const bound = <Name extends keyof Sockets>(
    name: Name,
    parameters: string,
  ): Sockets[Name] => libc.func(`int ${name}(${parameters})`) as Sockets[Name];
  return {
    socket: bound('socket', 'int, int, int'),
    bind: bound('bind', 'int, uintptr_t, uint32_t'),
    listen: bound('listen', 'int, int'),
    connect: bound('connect', 'int, uintptr_t, uint32_t'),
    getsockopt: bound('getsockopt', 'int, int, int, uintptr_t, uintptr_t'),
    close: bound('close', 'int'),
  };
}

const refused = (errno: number): Error =>
  new Error(`the system does not let a process claim a GPU: error ${errno}`);
