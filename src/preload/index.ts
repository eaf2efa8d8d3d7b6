/**
 * The preload script: the page's only access to Electron. The page can ask for its port
 * to main and listen for menu commands; it cannot name a channel or send anything else.
 */
import { contextBridge, ipcRenderer, type IpcRendererEvent } from 'electron';
import {
  IPC_CHANNELS,
  PORT_MESSAGE,
  type HostBridge,
} from '../shared/rpc/host-bridge.ts';
import type { HostCommand } from '../shared/rpc/rpc.ts';

/**
 * The part of the DOM that this script needs, because sources of main have no DOM
 * types.
 */
declare const window: {
  readonly location: { readonly origin: string };
  postMessage(
    message: string,
    target: string,
    transfer: IpcRendererEvent['ports'],
  ): void;
};

const bridge: HostBridge = {
  platform: process.platform,
  requestPort: () => ipcRenderer.send(IPC_CHANNELS.connect),
  onCommand: (listener) => {
    const forward = (_event: unknown, command: HostCommand) => listener(command);
    ipcRenderer.on(IPC_CHANNELS.command, forward);
    return () => void ipcRenderer.off(IPC_CHANNELS.command, forward);
  },
};

// A port cannot pass the bridge; a message to the page's own window can carry it.
ipcRenderer.on(IPC_CHANNELS.port, (event) => {
  window.postMessage(PORT_MESSAGE, window.location.origin, event.ports);
});

contextBridge.exposeInMainWorld('gradwireHost', bridge);
