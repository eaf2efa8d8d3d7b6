/** Connects the page to the host that served it. */
import { ACCESS_TOKEN_KEY } from '../../../shared/rpc/access-token.ts';
import type { HostBridge } from '../../../shared/rpc/host-bridge.ts';
import { openBrowserChannel } from './browser-channel.ts';
import { HostConnection, type Connection } from './host-connection.ts';
import { openPortChannel } from './port-channel.ts';

declare global {
  interface Window {
    /** Set by the preload script; absent in a browser. */
    readonly gradwireHost?: HostBridge;
  }
}

/**
 * Resolves when the line is up, or when the host refuses the page (`status` says which).
 */
export async function connect(): Promise<Connection> {
  const bridge = window.gradwireHost;
  const connection = new HostConnection(
    bridge === undefined
      ? openBrowserChannel({ origin: window.location.origin, token: keptToken })
      : openPortChannel(bridge),
    bridge,
  );
  await connection.settled();
  return connection;
}

/** The stored token; undefined if this browser never opened the printed URL, or stores nothing. */
function keptToken(): string | undefined {
  try {
    return window.localStorage.getItem(ACCESS_TOKEN_KEY) || undefined;
  } catch {
    return undefined;
  }
}
