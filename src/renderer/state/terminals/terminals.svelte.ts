/** The terminals of this page: one tab each, one of them shown. */
import type { Connection } from '../host/host-connection.ts';
import { TerminalSession } from './terminal-session.svelte.ts';

export class Terminals {
  readonly #connection: Connection;
  readonly #stops: readonly (() => void)[];
  #tabs = $state.raw<readonly TerminalSession[]>([]);
  #active = $state.raw<TerminalSession>();
  #lastId = 0;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#stops = [
      connection.on('terminalOutput', (id, text) => this.#withId(id)?.take(text)),
      connection.on('terminalEnded', (id, end) => this.#withId(id)?.end(end)),
      connection.on('status', (status) => {
        if (status === 'connected') return;
        for (const tab of this.#tabs) tab.loseHost();
      }),
    ];
  }

  /** Terminals in the order in which they were opened. */
  get tabs(): readonly TerminalSession[] {
    return this.#tabs;
  }

  get active(): TerminalSession | undefined {
    return this.#active;
  }

  open(node: string): void {
    const of = this.#tabs.filter((tab) => tab.node === node);
    const number = Math.max(0, ...of.map((tab) => tab.number)) + 1;
    const nextId = (): number => ++this.#lastId;
    const tab = new TerminalSession(this.#connection.api, nextId, node, number);
    this.#tabs = [...this.#tabs, tab];
    this.#active = tab;
  }

  show(tab: TerminalSession): void {
    this.#active = tab;
  }

  /** Ends its shell and shows the next tab. */
  closeTab(tab: TerminalSession): void {
    const index = this.#tabs.indexOf(tab);
    tab.close();
    this.#tabs = this.#tabs.filter((other) => other !== tab);
    if (this.#active === tab) {
      this.#active = this.#tabs[Math.min(index, this.#tabs.length - 1)];
    }
  }

  close(): void {
    for (const stop of this.#stops) stop();
    for (const tab of this.#tabs) tab.close();
  }

  #withId(id: number): TerminalSession | undefined {
    return this.#tabs.find((tab) => tab.id === id);
  }
}
