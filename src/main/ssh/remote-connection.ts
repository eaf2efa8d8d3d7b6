/**
 * An authenticated connection to one host, through its jump hosts: commands, streams, a
 * shell and connections to ports share it. `SshConnection` makes it with ssh2;
 * `SystemSshConnection` uses the system's `ssh`.
 */
import type { SshTransport } from '../../shared/machines/ssh-transport.ts';
import type { HostKeyOptions } from './host-key-check.ts';
import type { SshEnd } from './hop.ts';
import type { CommandOptions, CommandResult } from './remote-command.ts';
import type { RemoteShell, RemoteStream } from './remote-stream.ts';
import type { RememberedSecrets } from './remembered-secrets.ts';
import type { SshTarget } from './target.ts';

export interface SshOpenOptions extends HostKeyOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * False: nothing is asked, even with `questions`, as for connections in the background.
   */
  readonly interactive?: boolean | undefined;
  /** Secrets from earlier connections. */
  readonly secrets?: RememberedSecrets | undefined;
  /** A private directory for sockets and scripts while a connection lives. */
  readonly directory?: string | undefined;
  /**
   * The built-in client's connection to the last jump host. It stays open when the new
   * one ends, and the new one ends with it.
   */
  readonly through?: RemoteConnection | undefined;
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
  readonly close: () => void;
}

export interface RemoteConnection extends AsyncDisposable {
  readonly target: SshTarget;
  readonly transport: SshTransport;
  /** Resolves when the connection is gone. */
  readonly closed: Promise<SshEnd>;
  readonly isOpen: boolean;
  /** Shells that are open, or being opened. */
  readonly shells: number;
  /** The host's banner before the log-in. */
  readonly banner: string;
  /** Parts of the configuration that were ignored, and why. */
  readonly notices: readonly string[];

  /**
   * Runs a command line in the user's login shell, which may be any shell. Put no values
   * into it: pass them on stdin. A cancelled command loses its stdin and stdout; servers
   * that deliver signals end it, others leave a command running that neither reads nor
   * writes.
   * @throws GradwireError `SSH_TIMEOUT`, `SSH_OUTPUT_TOO_LARGE`, `SSH_CONNECTION_LOST`,
   * `SSH_CHANNEL_REFUSED`, `ABORTED`. An exit code other than 0 is not an error.
   */
  run(command: string, options?: CommandOptions): Promise<CommandResult>;

  /**
   * A remote command's stdin and stdout, with the tail of its stderr and its exit. Like a
   * socket, it emits `error` when the connection is lost.
   * @throws GradwireError `SSH_CONNECTION_LOST`, `SSH_CHANNEL_REFUSED`
   */
  stream(command: string): Promise<RemoteStream>;

  /** A login shell at a terminal of that size. */
  shell(terminal: Terminal): Promise<RemoteShell>;

  /** A connection from the host to one of its own ports, or its network's. */
  forward(host: string, port: number): Promise<RemoteStream>;

  /**
   * A port on the host's loopback, chosen by the system; connections to it are passed
   * to `accept`.
   * @throws GradwireError `SSH_CONNECTION_LOST`, `SSH_CHANNEL_REFUSED`
   */
  listen(accept: (stream: RemoteStream) => void): Promise<RemotePort>;

  close(): Promise<void>;
}
