/**
 * Electron as far as the app's main process uses it: what is asked of it is kept, and its events are
 * sent by tests. The app's own code behind it is the real one.
 */
import { EventEmitter } from 'node:events';

type Handler = (...args: never[]) => unknown;

class FakeSession {
  readonly handlers = new Map<string, Handler>();
  setPermissionCheckHandler(handler: Handler): void {
    this.handlers.set('check', handler);
  }
  setPermissionRequestHandler(handler: Handler): void {
    this.handlers.set('request', handler);
  }
  setDevicePermissionHandler(handler: Handler): void {
    this.handlers.set('device', handler);
  }
}

class FakeContents extends EventEmitter {
  readonly session = new FakeSession();
  openHandler: ((details: { url: string }) => unknown) | undefined;
  setWindowOpenHandler(handler: (details: { url: string }) => unknown): void {
    this.openHandler = handler;
  }
  send(): void {}
}

export class FakeWindow extends EventEmitter {
  static readonly made: FakeWindow[] = [];
  /** Settles as a window's page has been loaded. */
  static loading: Promise<undefined> = Promise.resolve(undefined);
  readonly webContents = new FakeContents();
  readonly loaded: string[] = [];
  readonly progress: number[] = [];
  readonly options: { readonly webPreferences: Readonly<Record<string, unknown>> };

  constructor(options: FakeWindow['options']) {
    super();
    this.options = options;
    FakeWindow.made.push(this);
  }
  loadURL(url: string): Promise<undefined> {
    this.loaded.push(url);
    return FakeWindow.loading;
  }
  setProgressBar(progress: number): void {
    this.progress.push(progress);
  }
  show(): void {}
  focus(): void {}
  isDestroyed(): boolean {
    return false;
  }
  isMinimized(): boolean {
    return false;
  }
}

/** A frame that sends a message; ports that it is given are kept. */
export class FakeFrame {
  readonly given: unknown[] = [];
  readonly url: string;
  readonly parent: FakeFrame | null;

  constructor(url: string, parent: FakeFrame | null = null) {
    this.url = url;
    this.parent = parent;
  }
  postMessage(...message: unknown[]): void {
    this.given.push(message);
  }
}

class FakePort extends EventEmitter {
  start(): void {}
  close(): void {}
  postMessage(): void {}
}

class FakeApp extends EventEmitter {
  readonly asked: string[] = [];
  readonly ends: string[] = [];
  readonly exited = Promise.withResolvers<number>();
  enableSandbox(): void {
    this.asked.push('sandbox');
  }
  setPath(): void {}
  requestSingleInstanceLock(): boolean {
    return true;
  }
  whenReady(): Promise<void> {
    this.asked.push('ready');
    return Promise.resolve();
  }
  quit(): void {}
  relaunch(): void {
    this.ends.push('relaunch');
  }
  exit(code: number): void {
    this.ends.push(`exit ${code}`);
    this.exited.resolve(code);
  }
}

interface Scheme {
  readonly scheme: string;
  readonly privileges: Readonly<Record<string, boolean>>;
}

/** The module's exports, with what they were asked. */
export const electron = {
  app: new FakeApp(),
  BrowserWindow: FakeWindow,
  ipcMain: new EventEmitter(),
  Menu: {
    setApplicationMenu: (): void => undefined,
    buildFromTemplate: (template: unknown): unknown => template,
  },
  MessageChannelMain: class {
    readonly port1 = new FakePort();
    readonly port2 = new FakePort();
  },
  Notification: { isSupported: (): boolean => false },
  dialog: { showErrorBox: (): void => undefined },
  screen: { getAllDisplays: (): readonly never[] => [] },
  schemes: [] as Scheme[],
  answers: new Map<string, (request: Request) => Promise<Response>>(),
  protocol: {
    registerSchemesAsPrivileged: (schemes: readonly Scheme[]): void => {
      electron.schemes.push(...schemes);
    },
    handle: (scheme: string, answer: (request: Request) => Promise<Response>): void => {
      electron.answers.set(scheme, answer);
    },
  },
  opened: [] as string[],
  shell: {
    openExternal: (url: string): Promise<void> => {
      electron.opened.push(url);
      return Promise.resolve();
    },
  },
};
