/**
 * The narrow bridge between a host with its own window and its page: what the
 * preload script puts on `window.gradwireHost`. In a browser it is absent, and the page
 * speaks to its host over a WebSocket instead.
 */
import type { HostCommand } from './rpc.ts';

export interface HostBridge {
  readonly platform: string;
  /**
   * Asks for a message port to main. It arrives as a message event on `window` whose
   * data is PORT_MESSAGE and whose one port is it: ports cannot pass the bridge.
   */
  requestPort(): void;
  /** Commands of the native menu. Returns what ends the listening. */
  onCommand(listener: (command: HostCommand) => void): () => void;
}

export const PORT_MESSAGE = 'gradwire:port';

/** Names of the messages between the preload script and Electron's main process. */
export const IPC_CHANNELS = {
  connect: 'gradwire:connect',
  port: 'gradwire:port',
  command: 'gradwire:command',
} as const;
