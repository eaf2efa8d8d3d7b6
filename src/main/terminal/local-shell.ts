/**
 * The user's shell on this computer. Node has no pseudoterminals: they need an optional
 * native package, loaded with the first such terminal.
 */
import type * as Pty from '@lydell/node-pty';
import os, { constants } from 'node:os';
import { Readable } from 'node:stream';
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import { LOCAL_NODE } from '../../shared/machines/node-entry.ts';
import type { TerminalEnd, TerminalSize } from '../../shared/rpc/terminal.ts';
import type { Shell } from './shell.ts';

interface ClosablePty extends Pty.IPty {
  destroy(): void;
}

/** @throws GradwireError `TERMINAL_UNAVAILABLE`, `SHELL_NOT_STARTED` */
export async function openLocalShell(size: TerminalSize): Promise<Shell> {
  const { spawn } = await loadPty();
  const { file, args } = loginShell();
  try {
    return overPty(
      // `destroy` exists but is missing in its types.
      spawn(file, args, {
        name: 'xterm-256color',
        cols: size.columns,
        rows: size.rows,
        cwd: os.homedir(),
        env: { ...process.env, COLORTERM: 'truecolor' },
        // As bytes; characters are decoded where they are passed on.
        encoding: null,
      }) as ClosablePty,
    );
  } catch (error) {
    throw failure('SHELL_NOT_STARTED', `cannot start ${file}: ${String(error)}`, {
      place: LOCAL_NODE,
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
      place: LOCAL_NODE,
      next:
        'Install it with npm install --include=optional. Terminals on machines reached by ' +
        'SSH work without it.',
    },
  );
}

function loginShell(): { readonly file: string; readonly args: string[] } {
  const { env, platform } = process;
  if (platform === 'win32') return { file: 'powershell.exe', args: [] };
  // The account's own shell, if the environment names none.
  return { file: env['SHELL'] || os.userInfo().shell || '/bin/sh', args: ['-l'] };
}

/**
 * Output of a shell's last fifth of a second is lost if the page is more than a window
 * behind, because the package then closes the terminal.
 */
function overPty(pty: ClosablePty): Shell {
  let over = false;
  const output = new Readable({
    read: () => {
      if (!over) pty.resume();
    },
    destroy: (error, done) => {
      // Closes the terminal first, so that a shell that ignores the signal reads the
      // end of input.
      if (!over) pty.destroy();
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
  return {
    output,
    ended,
    write: (text) => {
      if (!over) pty.write(text);
      return Promise.resolve();
    },
    resize: ({ columns, rows }) => {
      if (!over) pty.resize(columns, rows);
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
