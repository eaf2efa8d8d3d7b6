/**
 * The user's shell on this computer. Node has no pseudoterminals: they need an optional
 * native package, loaded with the first such terminal.
 */
import type * as Pty from '@lydell/node-pty';
import os, { constants } from 'node:os';
import { Readable } from 'node:stream';
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import { HERE } from '../../shared/machines/machine-names.ts';
import type { TerminalEnd, TerminalSize } from '../../shared/rpc/terminal.ts';
import { loadCloseOnExec } from './close-on-exec.ts';
import { PtyInput } from './pty-input.ts';
import type { Shell } from './shell.ts';

/** Time for a shell to end after its terminal has hung up: it may save its history. */
const HANG_UP_PATIENCE_MS = 3000;

/** Members that exist but are missing in the package's types. */
interface UnixPty extends Pty.IPty {
  /** The terminal's own end; undefined on Windows. */
  readonly fd: number | undefined;
  /** The stream that reads it; once it is destroyed, the descriptor may be another file's. */
  readonly _socket: { readonly destroyed: boolean };
  destroy(): void;
}

/**
 * @param home returns the user's directory; throws if there is none
 * @throws GradwireError `TERMINAL_UNAVAILABLE`, `SHELL_NOT_STARTED`
 */
export async function openLocalShell(
  size: TerminalSize,
  home: () => string,
): Promise<Shell> {
  const { spawn } = await loadPty();
  const closeOnExec = await loadCloseOnExec();
  const { file, args } = loginShell();
  try {
    const pty = spawn(file, args, {
      name: 'xterm-256color',
      cols: size.columns,
      rows: size.rows,
      cwd: orRoot(home),
      env: { ...process.env, COLORTERM: 'truecolor' },
      // As bytes; characters are decoded where they are passed on.
      encoding: null,
    }) as UnixPty;
    // A process that inherits it would keep the shell alive when the app is killed.
    if (pty.fd !== undefined) closeOnExec?.(pty.fd);
    return overPty(pty);
  } catch (error) {
    throw failure('SHELL_NOT_STARTED', `cannot start ${file}: ${String(error)}`, {
      place: HERE,
      next: 'Set SHELL to a shell that is installed, and start Gradwire again.',
    });
  }
}

async function loadPty(): Promise<typeof Pty> {
  try {
    return await import('@lydell/node-pty');
  } catch (cause) {
    throw unavailable(cause);
  }
}

function unavailable(cause: unknown): GradwireError {
  const [reason = ''] = (cause instanceof Error ? cause.message : '').split('\n', 1);
  return failure(
    'TERMINAL_UNAVAILABLE',
    `this computer's terminals need the package @lydell/node-pty: ${reason}`,
    {
      place: HERE,
      next:
        'Install it with npm install --include=optional. Terminals on machines reached by ' +
        'SSH work without it.',
    },
  );
}

function loginShell(): { readonly file: string; readonly args: string[] } {
  const { env, platform } = process;
  if (platform === 'win32') return { file: 'powershell.exe', args: [] };
  return { file: env['SHELL'] || accountShell() || '/bin/sh', args: ['-l'] };
}

/** The user's shell by their account; undefined if the system knows no such user, as in a container. */
function accountShell(): string | undefined {
  try {
    return os.userInfo().shell ?? undefined;
  } catch {
    return undefined;
  }
}

function orRoot(home: () => string): string {
  try {
    return home();
  } catch {
    return '/';
  }
}

/**
 * Output of a shell's last fifth of a second is lost if the page is more than a window
 * behind, because the package then closes the terminal.
 */
function overPty(pty: UnixPty): Shell {
  let over = false;
  const isOpen = (): boolean => !over && !pty._socket.destroyed;
  const input = pty.fd === undefined ? undefined : new PtyInput(pty.fd, isOpen);
  const output = new Readable({
    read: () => {
      if (!over) pty.resume();
    },
    destroy: (error, done) => {
      // Closes the terminal first, so that a shell that ignores the signal reads the
      // end of input.
      if (!over) {
        pty.destroy();
        killLater();
      }
      done(error);
    },
  });
  // Without an encoding these are bytes, despite the type.
  pty.onData((chunk: unknown) => {
    if (!output.destroyed && !output.push(chunk)) pty.pause();
  });
  const ended = new Promise<TerminalEnd>((resolve) => {
    pty.onExit(({ exitCode, signal }) => {
      over = true;
      if (!output.destroyed) output.push(null);
      resolve({
        reason: 'exited',
        ...(signal === undefined || signal === 0
          ? { code: exitCode, signal: null }
          : { code: null, signal: signalName(signal) }),
      });
    });
  });
  /** Kills a shell that ignores the hang-up: this process would wait for its end. */
  const killLater = (): void => {
    if (process.platform === 'win32') return;
    const timer = setTimeout(() => {
      pty.kill('SIGKILL');
    }, HANG_UP_PATIENCE_MS);
    void ended.then(() => {
      clearTimeout(timer);
    });
  };
  return {
    output,
    ended,
    write: async (bytes) => {
      if (input !== undefined) await input.write(bytes);
      else if (!over) pty.write(bytes.toString());
    },
    resize: ({ columns, rows }) => {
      if (isOpen()) pty.resize(columns, rows);
    },
    close: () => {
      output.destroy();
    },
  };
}

function signalName(number: number): string {
  const known = Object.entries(constants.signals).find(([, value]) => value === number);
  return known?.[0] ?? `signal ${number}`;
}
