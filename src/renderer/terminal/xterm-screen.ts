/** A terminal drawn by xterm.js that fills an element of the page. */
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import type { TerminalScreen } from '../state/terminals/terminal-session.svelte.ts';
import { escapedBytes, type TerminalSize } from '../../shared/rpc/terminal.ts';
import { keyAction } from './terminal-keys.ts';
import { terminalTheme } from './terminal-theme.ts';

const SCROLLBACK_LINES = 10_000;
const FONT_PIXELS = 13;
/** The page's contrast; a program's colours are adjusted to it. */
const LEAST_CONTRAST = 4.5;

/**
 * Soft reset, main screen, no reports of the mouse, the focus or pastes. A program that
 * was cut off has not undone these, and the next shell does not know of them.
 */
const RESTORE = `\x1b[!p${[1049, 1000, 1002, 1003, 1004, 1006, 2004]
  .map((mode) => `\x1b[?${mode}l`)
  .join('')}\r\n`;

export interface ScreenEvents {
  typed(text: string): void;
  resized(size: TerminalSize): void;
  left(): void;
}

export class XtermScreen implements TerminalScreen {
  readonly #terminal: Terminal;
  readonly #fit = new FitAddon();
  readonly #observer: ResizeObserver;

  constructor(place: HTMLElement, label: string, events: ScreenEvents) {
    const style = getComputedStyle(place);
    const calm = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.#terminal = new Terminal({
      cursorBlink: !calm,
      fontFamily: style.getPropertyValue('--mono'),
      fontSize: FONT_PIXELS,
      minimumContrastRatio: LEAST_CONTRAST,
      scrollback: SCROLLBACK_LINES,
      theme: terminalTheme(style),
    });
    this.#terminal.loadAddon(this.#fit);
    this.#terminal.open(place);
    this.#terminal.textarea?.setAttribute('aria-label', label);
    this.#fit.fit();
    this.#terminal.onData((text) => {
      events.typed(text);
    });
    this.#terminal.onBinary((bytes) => {
      events.typed(escapedBytes(bytes));
    });
    this.#terminal.onResize(({ cols, rows }) => {
      events.resized({ columns: cols, rows });
    });
    this.#terminal.attachCustomKeyEventHandler((event) => {
      const action = keyAction(event);
      if (action === 'shell') return true;
      if (event.type === 'keydown' && action !== 'page') {
        event.preventDefault();
        // xterm.js answers the event with the terminal's selection.
        if (action === 'copy') document.execCommand('copy');
        else events.left();
      }
      return false;
    });
    // A hidden terminal has no size, so it keeps its last one.
    this.#observer = new ResizeObserver(() => {
      this.#fit.fit();
    });
    this.#observer.observe(place);
  }

  get size(): TerminalSize {
    return { columns: this.#terminal.cols, rows: this.#terminal.rows };
  }

  write(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.#terminal.write(text, resolve);
    });
  }

  restore(): void {
    this.#terminal.write(RESTORE);
  }

  /** Whether there is a shell to receive keys. */
  setOpen(open: boolean): void {
    this.#terminal.options.disableStdin = !open;
  }

  focus(): void {
    this.#terminal.focus();
  }

  readColours(place: HTMLElement): void {
    this.#terminal.options.theme = terminalTheme(getComputedStyle(place));
  }

  close(): void {
    this.#observer.disconnect();
    this.#terminal.dispose();
  }
}
