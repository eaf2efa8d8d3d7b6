/**
 * The app's one window: isolated, sandboxed, without Node, showing app://gradwire/ and
 * nothing else. External links open in the user's browser if outside-links.ts allows
 * them.
 */
import { BrowserWindow, screen, shell, type Session } from 'electron';
import path from 'node:path';
import { APP_URL, isAppUrl } from './ipc-gate.ts';
import { mayOpenOutside } from './outside-links.ts';
import { DEFAULT_SIZE, readWindowState, writeWindowState } from './window-state.ts';

/** The only permission a page gets: to write text to the clipboard. */
const PERMISSIONS: readonly string[] = ['clipboard-sanitized-write'];

/**
 * The window, not yet visible and still empty.
 * @param root the installation's directory
 * @param home where the window's position is stored
 */
export function createMainWindow(root: string, home: string): BrowserWindow {
  const displays = screen.getAllDisplays().map((display) => display.workArea);
  const state = readWindowState(home, displays);
  const window = new BrowserWindow({
    ...(state ?? DEFAULT_SIZE),
    minWidth: 640,
    minHeight: 480,
    show: false,
    title: 'Gradwire',
    webPreferences: {
      preload: path.join(root, 'dist', 'desktop', 'preload', 'index.cjs'),
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      webviewTag: false,
      spellcheck: false,
    },
  });
  if (state?.maximized) window.maximize();
  refusePermissions(window.webContents.session);
  keepInside(window);
  window.on('close', () => {
    const state = { ...window.getNormalBounds(), maximized: window.isMaximized() };
    writeWindowState(home, state);
  });
  return window;
}

/** Resolves when the window shows the page. */
export async function showApp(window: BrowserWindow): Promise<void> {
  await window.loadURL(APP_URL);
  window.show();
}

function keepInside(window: BrowserWindow): void {
  const { webContents } = window;
  webContents.on('will-navigate', (event) => {
    if (!isAppUrl(event.url)) event.preventDefault();
  });
  webContents.on('will-frame-navigate', (event) => {
    if (!isAppUrl(event.url)) event.preventDefault();
  });
  webContents.on('will-redirect', (event) => event.preventDefault());
  webContents.on('will-attach-webview', (event) => event.preventDefault());
  webContents.setWindowOpenHandler(({ url }) => {
    if (mayOpenOutside(url)) void shell.openExternal(url);
    return { action: 'deny' };
  });
}

function refusePermissions(session: Session): void {
  session.setPermissionCheckHandler((_contents, permission) =>
    PERMISSIONS.includes(permission),
  );
  session.setPermissionRequestHandler((_contents, permission, decide) =>
    decide(PERMISSIONS.includes(permission)),
  );
  session.setDevicePermissionHandler(() => false);
}
