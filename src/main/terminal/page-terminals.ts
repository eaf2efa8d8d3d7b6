/**
 * The terminals of one page: only this page opens, uses, resizes and closes them, and they
 * end with it.
 */
import { machineTitle } from '../../shared/machines/machine-names.ts';
import { failure, inputError, type GradwireError } from '../../shared/errors/errors.ts';
import type {
  TerminalApi,
  TerminalEvents,
  TerminalSize,
} from '../../shared/rpc/terminal.ts';
import { passOutput } from './output-flow.ts';
import type { OpenShell, Shell } from './shell.ts';
import { typedBytes } from './typed-bytes.ts';

/** Each holds a process, a channel and, in the page, its last lines. */
export const MOST_TERMINALS = 16;

interface Terminal {
  readonly closing: AbortController;
  size: TerminalSize;
  /** The terminal's shell; undefined while it is being opened. */
  shell: Shell | undefined;
}

export class PageTerminals {
  readonly api: TerminalApi = {
    openTerminal: (id, node, size) => this.#open(id, node, size),
    writeTerminal: async (id, text) => {
      const { shell } = this.#named(id);
      if (shell === undefined) throw gone(id);
      await shell.write(typedBytes(text));
    },
    resizeTerminal: async (id, size) => {
      const terminal = this.#named(id);
      terminal.size = size;
      terminal.shell?.resize(size);
    },
    closeTerminal: async (id) => {
      this.#close(id);
    },
  };
  readonly #openShell: OpenShell;
  readonly #events: TerminalEvents;
  readonly #onClose: () => void;
  readonly #terminals = new Map<number, Terminal>();
  #closed = false;

  constructor(openShell: OpenShell, events: TerminalEvents, onClose: () => void) {
    this.#openShell = openShell;
    this.#events = events;
    this.#onClose = onClose;
  }

  close(): void {
    this.#closed = true;
    this.#onClose();
    for (const id of [...this.#terminals.keys()]) this.#close(id);
  }

  /**
   * @throws GradwireError `TERMINAL_TAKEN`, `TERMINAL_LIMIT`, and the reason why there is
   * no shell
   */
  async #open(id: number, node: string, size: TerminalSize): Promise<void> {
    if (this.#closed) throw gone(id);
    if (this.#terminals.has(id)) {
      throw inputError('TERMINAL_TAKEN', `terminal ${id} is already open`, {
        next: 'Give each terminal of a page its own number.',
      });
    }
    if (this.#terminals.size >= MOST_TERMINALS) {
      throw inputError(
        'TERMINAL_LIMIT',
        `this page already has ${MOST_TERMINALS} terminals, the maximum`,
        { place: machineTitle(node), next: 'Close one that you do not need.' },
      );
    }
    const closing = new AbortController();
    const terminal: Terminal = { closing, size, shell: undefined };
    this.#terminals.set(id, terminal);
    let shell: Shell;
    try {
      shell = await this.#openShell(node, size, closing.signal);
    } catch (error) {
      this.#forget(id, terminal);
      throw error;
    }
    if (closing.signal.aborted) {
      shell.close();
      throw failure('ABORTED', `terminal ${id} was closed while it was being opened`, {
        place: machineTitle(node),
      });
    }
    terminal.shell = shell;
    if (terminal.size !== size) shell.resize(terminal.size);
    this.#serve(id, terminal, shell).catch(() => undefined);
  }

  async #serve(id: number, terminal: Terminal, shell: Shell): Promise<void> {
    const { signal } = terminal.closing;
    await passOutput(shell.output, async (text) => {
      if (!signal.aborted) await this.#events.terminalOutput(id, text);
    });
    const end = await shell.ended;
    this.#forget(id, terminal);
    // A page that closes at this moment need not be informed.
    if (!signal.aborted) await this.#events.terminalEnded(id, end);
  }

  #close(id: number): void {
    const terminal = this.#terminals.get(id);
    if (terminal === undefined) return;
    this.#terminals.delete(id);
    terminal.closing.abort();
    terminal.shell?.close();
  }

  /** Another terminal may have its number by now. */
  #forget(id: number, terminal: Terminal): void {
    if (this.#terminals.get(id) === terminal) this.#terminals.delete(id);
  }

  #named(id: number): Terminal {
    const terminal = this.#terminals.get(id);
    if (terminal === undefined) throw gone(id);
    return terminal;
  }
}

function gone(id: number): GradwireError {
  return failure('TERMINAL_GONE', `terminal ${id} has no shell`, {
    next: 'The shell has ended or is not open yet. Open it again.',
  });
}
