/**
 * An authenticated connection to one host, through its jump hosts: commands, streams, a
 * shell and ways to ports share it. `SshConnection` makes it by itself, by ssh2;
 * `SystemSshConnection` has the system's `ssh` make it.
 */
import type { SshTransport } from '../../shared/ssh-transport.ts';
import type { HostKeyOptions } from './host-key-check.ts';
import type { SshEnd } from './hop.ts';
import type { CommandOptions, CommandResult } from './remote-command.ts';
import type { RemoteShell, RemoteStream } from './remote-stream.ts';
import type { RememberedSecrets } from './remembered-secrets.ts';
import type { SshTarget } from './target.ts';

export interface SshOpenOptions extends HostKeyOptions {
  readonly signal?: AbortSignal | undefined;
  /** False: nothing is asked, `questions` or not, as a connection in the background must. */
  readonly interactive?: boolean | undefined;
  /** Answers of earlier connections, for this one. */
  readonly secrets?: RememberedSecrets | undefined;
  /** A private directory for sockets and scripts while a connection lives. */
  readonly directory?: string | undefined;
}

export interface Terminal {
  readonly columns: number;
  readonly rows: number;
  /** The value of TERM. */
  readonly term?: string | undefined;
}

/** A port of the host that listens for us. */
export interface RemotePort {
  readonly port: number;
  close(): void;
}

export interface RemoteConnection extends AsyncDisposable {
  readonly target: SshTarget;
  readonly transport: SshTransport;
  /** Resolves when the connection is gone. */
  readonly closed: Promise<SshEnd>;
  readonly isOpen: boolean;
  /** What the host says before it lets anybody in. */
  readonly banner: string;
  /** What of the configuration was left out, and why. */
  readonly notices: readonly string[];

  /**
   * Runs a command line in the user's login shell, whichever that is. Put no values into
   * it: give them on stdin. One that is cancelled loses its stdin and stdout; a server that
   * delivers signals ends it, any other leaves one that neither reads nor writes.
   * @throws GradwireError `SSH_TIMEOUT`, `SSH_OUTPUT_TOO_LARGE`, `SSH_CONNECTION_LOST`,
   * `SSH_CHANNEL_REFUSED`, `ABORTED`. An exit code other than 0 is not an error.
   */
  run(command: string, options?: CommandOptions): Promise<CommandResult>;

  /**
   * A remote command's stdin and stdout; its stderr's tail and its exit beside them. As a
   * socket does, it emits `error` when the connection is lost.
   * @throws GradwireError `SSH_CONNECTION_LOST`, `SSH_CHANNEL_REFUSED`
   */
  stream(command: string): Promise<RemoteStream>;

  /** A login shell at a terminal of that size. */
  shell(terminal: Terminal): Promise<RemoteShell>;

  /** A connection from the host to one of its own, or of its network's, ports. */
  forward(host: string, port: number): Promise<RemoteStream>;

  /**
   * A port on the host's loopback, chosen by the system; connections to it are passed
   * to `accept`.
   * @throws GradwireError `SSH_CONNECTION_LOST`, `SSH_CHANNEL_REFUSED`
   */
  listen(accept: (stream: RemoteStream) => void): Promise<RemotePort>;

  close(): Promise<void>;
}
