/**
 * A process's claim to a GPU, which other processes of this machine respect, including
 * those of other runs, supervisors and users: a name in Linux's abstract socket
 * namespace, which only one process can have at a time and which becomes free when that
 * process is gone, however it ended. Containers and network namespaces have their own
 * names.
 */
import type * as Koffi from 'koffi';
import { constants } from 'node:os';

const NAME = 'gradwire-gpu ';
const AF_UNIX = 1;
/** SOCK_STREAM | SOCK_CLOEXEC */
const SOCKET_TYPE = 0o2000001;

/**
 * @param addressOf of a buffer's first byte
 * @returns a function that claims the GPU of this id for the life of the process; it
 * returns false if another process has it, and throws if names cannot be claimed
 */
export function gpuClaims(
  koffi: typeof Koffi,
  addressOf: (buffer: Buffer) => number,
): (id: string) => boolean {
  const libc = koffi.load(null);
  const socket = libc.func('int socket(int, int, int)') as (
    domain: number,
    type: number,
    protocol: number,
  ) => number;
  const bind = libc.func('int bind(int, uintptr_t, uint32_t)') as (
    descriptor: number,
    address: number,
    bytes: number,
  ) => number;
  const close = libc.func('int close(int)') as (descriptor: number) => number;
  const claimed = new Set<string>();
  return (id) => {
    if (claimed.has(id)) return true;
    // sockaddr_un: the family, then a name that begins with a zero byte.
    const address = Buffer.alloc(3 + NAME.length + id.length);
    address.writeUInt16LE(AF_UNIX);
    address.write(`${NAME}${id}`, 3, 'latin1');
    const descriptor = socket(AF_UNIX, SOCKET_TYPE, 0);
    if (descriptor < 0) throw refused(koffi.errno());
    if (bind(descriptor, addressOf(address), address.length) === 0) {
      claimed.add(id);
      return true;
    }
    const error = koffi.errno();
    close(descriptor);
    if (error === constants.errno.EADDRINUSE) return false;
    throw refused(error);
  };
}

const refused = (errno: number): Error =>
  new Error(`the system does not let a process claim a GPU: error ${errno}`);
