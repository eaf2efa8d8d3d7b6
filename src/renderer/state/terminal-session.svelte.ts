/**
 * One tab's terminal: the shell at the host's end, which may be opened again after it has
 * ended, and how it stands. What draws it is told by `attach`.
 */
import { isErrorData, toErrorData, type ErrorData } from '../../shared/errors.ts';
import type { AppApi } from '../../shared/rpc.ts';
import {
  MOST_TYPED,
  type TerminalEnd,
  type TerminalSize,
} from '../../shared/terminal.ts';

export type TerminalState =
  | { readonly kind: 'opening' }
  | { readonly kind: 'open' }
  | { readonly kind: 'exited'; readonly text: string; readonly good: boolean }
  | { readonly kind: 'failed'; readonly error: ErrorData };

/** What draws the terminal. */
export interface TerminalScreen {
  readonly size: TerminalSize;
  /** Resolves when it has been taken in. */
  write(text: string): Promise<void>;
  /** Leaves what a program may have set up that can no longer undo it. */
  restore(): void;
}

export class TerminalSession {
  readonly node: string;
  /** Among the page's terminals on that machine, from 1. */
  readonly number: number;
  readonly #api: AppApi;
  readonly #nextId: () => number;
  #id = 0;
  #state = $state.raw<TerminalState>({ kind: 'opening' });
  #screen: TerminalScreen | undefined;
  #typed = '';
  #sending = false;

  constructor(api: AppApi, nextId: () => number, node: string, number: number) {
    this.#api = api;
    this.#nextId = nextId;
    this.node = node;
    this.number = number;
  }

  /** The host's number of the shell; another one when it is opened again. */
  get id(): number {
    return this.#id;
  }

  get state(): TerminalState {
    return this.#state;
  }

  get title(): string {
    return this.number === 1 ? this.node : `${this.node} (${this.number})`;
  }

  attach(screen: TerminalScreen): void {
    this.#screen = screen;
    void this.open();
  }

  /** A shell, the first one or another after one that has ended. */
  async open(): Promise<void> {
    const screen = this.#screen;
    if (screen === undefined) return;
    const id = (this.#id = this.#nextId());
    this.#typed = '';
    this.#state = { kind: 'opening' };
    try {
      await this.#api.openTerminal(id, this.node, screen.size);
      // It may have ended already.
      if (this.#id === id && this.state.kind === 'opening') {
        this.#state = { kind: 'open' };
      }
    } catch (error) {
      if (this.#id === id) this.#fail(isErrorData(error) ? error : toErrorData(error));
    }
  }

  type(text: string): void {
    if (this.#state.kind !== 'open') return;
    this.#typed += text;
    if (!this.#sending) void this.#send(this.#id);
  }

  resize(size: TerminalSize): void {
    if (this.#state.kind !== 'open' && this.#state.kind !== 'opening') return;
    // One that has ended in this moment has no size any more.
    this.#api.resizeTerminal(this.#id, size).catch(() => undefined);
  }

  async take(text: string): Promise<void> {
    await this.#screen?.write(text);
  }

  async end(end: TerminalEnd): Promise<void> {
    // Behind its output, which is still being drawn.
    await this.#screen?.write('');
    this.#screen?.restore();
    if (end.reason === 'lost') this.#fail(end.error);
    else this.#state = { kind: 'exited', ...exitText(end) };
  }

  /** The line to the host is gone, and with it the shells of this page. */
  loseHost(): void {
    if (this.#state.kind !== 'open' && this.#state.kind !== 'opening') return;
    this.#screen?.restore();
    this.#fail({
      code: 'CONNECTION_LOST',
      kind: 'failure',
      message: 'the connection to Gradwire was lost, which ended the shell',
    });
  }

  close(): void {
    const { kind } = this.#state;
    this.#screen = undefined;
    // Where the host is gone the shell is too.
    if (kind === 'open' || kind === 'opening')
      this.#api.closeTerminal(this.#id).catch(() => undefined);
    this.#id = 0;
  }

  /** What is typed while something is on its way goes with the next call. */
  async #send(id: number): Promise<void> {
    this.#sending = true;
    try {
      while (this.#typed !== '' && this.#id === id) {
        const text = this.#typed.slice(0, MOST_TYPED);
        this.#typed = this.#typed.slice(MOST_TYPED);
        await this.#api.writeTerminal(id, text);
      }
    } catch {
      // The shell has ended in this moment: that is told, and nobody waits for the keys.
      this.#typed = '';
    } finally {
      this.#sending = false;
      // Of the shell that was opened meanwhile.
      if (this.#typed !== '') void this.#send(this.#id);
    }
  }

  #fail(error: ErrorData): void {
    this.#state = { kind: 'failed', error };
  }
}

function exitText({ code, signal }: Extract<TerminalEnd, { reason: 'exited' }>): {
  readonly text: string;
  readonly good: boolean;
} {
  if (signal !== null) return { text: `ended by ${signal}`, good: false };
  if (code === null) return { text: 'ended', good: true };
  return { text: `ended with status ${code}`, good: code === 0 };
}
