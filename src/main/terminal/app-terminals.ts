/** All terminals of the app, page by page. */
import { LOCAL_NODE } from '../../shared/machines/node-entry.ts';
import type { TerminalEvents, TerminalSize } from '../../shared/rpc/terminal.ts';
import type { RemoteShell } from '../ssh/remote-stream.ts';
import { openLocalShell } from './local-shell.ts';
import { PageTerminals } from './page-terminals.ts';
import { remoteShell } from './remote-shell.ts';

/** @throws GradwireError `NODE_UNKNOWN`, and errors of connecting */
export type OpenRemote = (
  node: string,
  size: TerminalSize,
  signal: AbortSignal,
) => Promise<RemoteShell>;

export class AppTerminals {
  readonly #openRemote: OpenRemote;
  readonly #home: () => string;
  readonly #pages = new Set<PageTerminals>();

  /** @param home returns the user's directory on this computer; throws if there is none */
  constructor(openRemote: OpenRemote, home: () => string) {
    this.#openRemote = openRemote;
    this.#home = home;
  }

  /** The terminals of a page; forgotten here once closed. */
  page(events: TerminalEvents): PageTerminals {
    const page = new PageTerminals(
      async (node, size, signal) =>
        node === LOCAL_NODE
          ? await openLocalShell(size, this.#home)
          : remoteShell(await this.#openRemote(node, size, signal)),
      events,
      () => this.#pages.delete(page),
    );
    this.#pages.add(page);
    return page;
  }

  close(): void {
    for (const page of this.#pages) page.close();
  }
}
