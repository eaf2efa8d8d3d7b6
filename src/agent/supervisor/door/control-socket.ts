/**
 * The Unix socket on which a supervisor listens. Anybody may remove it, such as a program
 * that cleans up temporary files, or put another file there. The supervisor that owns the home
 * then listens anew at the same path, since its apps find it by nothing else.
 */
import { rmSync, statSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import path from 'node:path';

/** `sockaddr_un.sun_path` without its terminator: 103 bytes on macOS, 107 on Linux. */
const MOST_BYTES = 103;

export class ControlSocket {
  readonly #server: Server;
  readonly #path: string;
  /** Device and number of the socket that this process made. */
  #identity: string | undefined;

  /** @param socketPath if it is too long for a socket, its directory becomes the working directory */
  constructor(server: Server, socketPath: string) {
    this.#server = server;
    const isLong =
      process.platform !== 'win32' && Buffer.byteLength(socketPath) > MOST_BYTES;
    if (isLong) process.chdir(path.dirname(socketPath));
    this.#path = isLong ? path.basename(socketPath) : socketPath;
    // Such as a connection that could not be accepted for lack of descriptors.
    server.on('error', (error) => {
      process.stderr.write(`the control socket: ${error.message}\n`);
    });
  }

  /** Whether anything accepts connections there. */
  isServed(): Promise<boolean> {
    return new Promise((resolve) => {
      const probe = connect(this.#path);
      const settle = (served: boolean): void => {
        probe.destroy();
        resolve(served);
      };
      probe.on('connect', () => {
        settle(true);
      });
      probe.on('error', () => {
        settle(false);
      });
    });
  }

  /** Replaces whatever is there. @throws (rejects) if the system refuses */
  async listen(): Promise<void> {
    // Closing removes the file at that path, so it comes first. Clients stay connected.
    if (this.#server.listening) this.#server.close();
    if (process.platform !== 'win32') rmSync(this.#path, { force: true });
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#path, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    this.#identity = identityOf(this.#path);
  }

  /** Whether the path still leads to this process. */
  get isReachable(): boolean {
    if (process.platform === 'win32') return true; // a pipe's name ends with its process
    return this.#server.listening && identityOf(this.#path) === this.#identity;
  }

  /** Removes the socket, only if it is this process's. */
  remove(): void {
    if (this.isReachable) rmSync(this.#path, { force: true });
  }
}

/** A file system may give the number of a removed file to the next one. */
function identityOf(file: string): string | undefined {
  const entry = statSync(file, { throwIfNoEntry: false, bigint: true });
  return entry && `${entry.dev} ${entry.ino} ${entry.mtimeNs}`;
}
