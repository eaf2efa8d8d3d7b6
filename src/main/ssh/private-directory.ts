/** The directory of a connection's control socket, which only its user may enter. */
import { mkdirSync, mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/**
 * `sockaddr_un.sun_path`, minus the suffix that OpenSSH appends while it creates the
 * socket.
 */
const LONGEST_SOCKET_PATH = 103 - 18;
/**
 * Makes a private directory whose path leaves room for a socket's name.
 * @param preferred its parent, if that path is short enough
 */
export function privateDirectory(preferred: string | undefined): string {
  const places = [preferred, os.tmpdir(), '/tmp'].filter(
    (place) => place !== undefined,
  );
  const fit = places.find(
    (place) =>
      Buffer.byteLength(path.join(place, 'gradwire-ssh-XXXXXX', 's')) <=
      LONGEST_SOCKET_PATH,
  );
  const parent = fit ?? '/tmp';
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  return mkdtempSync(path.join(parent, 'gradwire-ssh-'));
}
