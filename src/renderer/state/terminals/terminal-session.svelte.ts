/**
 * One tab's terminal: the shell on the host, which may be reopened after it has ended,
 * and its state. `attach` sets the screen that draws it.
 */
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { AppApi } from '../../../shared/rpc/rpc.ts';
import {
  MOST_TYPED,
  type TerminalEnd,
  type TerminalSize,
} from '../../../shared/rpc/terminal.ts';

export type TerminalState =
  | { readonly kind: 'opening' }
  | { readonly kind: 'open' }
  | { readonly kind: 'exited'; readonly text: string; readonly good: boolean }
  | { readonly kind: 'failed'; readonly error: ErrorData };

/** The screen that draws the terminal. */
export interface TerminalScreen {
  readonly size: TerminalSize;
  /** Resolves when the text has been processed. */
  write(text: string): Promise<void>;
  /** Resets modes that an ended program can no longer undo. */
  restore(): void;
}

export class TerminalSession {
  readonly node: string;
  /** The terminal's number among the page's terminals on that machine, from 1. */
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

  /** The host's number of the shell; a new one when it is reopened. */
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

  /** Opens a shell: the first, or another after one has ended. */
  async open(): Promise<void> {
    const screen = this.#screen;
    if (screen === undefined) return;
    const id = (this.#id = this.#nextId());
    this.#typed = '';
    this.#state = { kind: 'opening' };
    try {
      await this.#api.openTerminal(id, this.node, screen.size);
      // It may already have ended.
      if (this.#id === id && this.state.kind === 'opening') {
        this.#state = { kind: 'open' };
      }
    } catch (error) {
      if (this.#id === id) this.#fail(toErrorData(error));
    }
  }

  type(text: string): void {
    if (this.#state.kind !== 'open') return;
    this.#typed += text;
    if (!this.#sending) void this.#send(this.#id);
  }

  resize(size: TerminalSize): void {
    if (this.#state.kind !== 'open' && this.#state.kind !== 'opening') return;
    // A shell that has just ended has no size any more.
    this.#api.resizeTerminal(this.#id, size).catch(() => undefined);
  }

  async take(text: string): Promise<void> {
    await this.#screen?.write(text);
  }

  async end(end: TerminalEnd): Promise<void> {
    // After its output, which is still being drawn.
    await this.#screen?.write('');
    this.#screen?.restore();
    if (end.reason === 'lost') this.#fail(end.error);
    else this.#state = { kind: 'exited', ...exitText(end) };
  }

  /** The line to the host is lost, and with it this page's shells. */
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
    // If the host is gone, so is the shell.
    if (kind === 'open' || kind === 'opening')
      this.#api.closeTerminal(this.#id).catch(() => undefined);
    this.#id = 0;
  }

  /** Input typed during a call goes with the next one. */
  async #send(id: number): Promise<void> {
    this.#sending = true;
    try {
      while (this.#typed !== '' && this.#id === id) {
        const text = firstPiece(this.#typed);
        this.#typed = this.#typed.slice(text.length);
        await this.#api.writeTerminal(id, text);
      }
    } catch {
      // The shell has just ended, which is reported; the keys are dropped.
      this.#typed = '';
    } finally {
      this.#sending = false;
      // It belongs to a shell that was opened meanwhile.
      if (this.#typed !== '') void this.#send(this.#id);
    }
  }

  #fail(error: ErrorData): void {
    this.#state = { kind: 'failed', error };
  }
}

/** Returns as much as one call takes; a surrogate pair is not divided. */
function firstPiece(text: string): string {
  if (text.length <= MOST_TYPED) return text;
  return text.slice(0, MOST_TYPED).replace(/[\ud800-\udbff]$/, '');
}

function exitText({ code, signal }: Extract<TerminalEnd, { reason: 'exited' }>): {
  readonly text: string;
  readonly good: boolean;
} {
  if (signal !== null) return { text: `ended by ${signal}`, good: false };
  if (code === null) return { text: 'ended', good: true };
  return { text: `ended with status ${code}`, good: code === 0 };
}
