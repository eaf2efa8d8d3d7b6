/**
 * The desktop host: Electron's life cycle around the app's core. One instance per home;
 * the core and its lock are closed before the process ends, runs continue.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import {
  app,
  ipcMain,
  Menu,
  MessageChannelMain,
  protocol,
  shell,
  type BrowserWindow,
} from 'electron';
import { GradwireError, isErrorData, toErrorData } from '../../shared/errors/errors.ts';
import { IPC_CHANNELS } from '../../shared/rpc/host-bridge.ts';
import type { HostCommand } from '../../shared/rpc/rpc.ts';
import { portChannel } from '../../shared/rpc/rpc-wire.ts';
import { createAppCore } from '../app/app-core.ts';
import { catchFaults } from '../home/fault-log.ts';
import { openHome, type Home } from '../home/home.ts';
import { installationRoot } from '../home/installation.ts';
import { Sessions } from '../rpc/session.ts';
import { answerAppRequests } from './app-protocol.ts';
import { showProgress } from './dock-progress.ts';
import { admitsSender, APP_SCHEME } from './ipc-gate.ts';
import { createMainWindow, showApp } from './main-window.ts';
import { notifyOfAlerts } from './alert-notification.ts';
import { menuTemplate } from './menu.ts';
import { tellFailed, tellWindowShown } from './starter.ts';

const PAPERS = 'https://arxiv.org/abs/1802.08021';

process.umask(0o077);
// Both must be set before Electron is ready.
app.enableSandbox();
protocol.registerSchemesAsPrivileged([
  {
    scheme: APP_SCHEME,
    privileges: { standard: true, secure: true, supportFetchAPI: true },
  },
]);

const resources = new AsyncDisposableStack();
let window: BrowserWindow | undefined;
let ending: Promise<void> | undefined;
/** Whether the user has started the app again while it was ending. */
let startsAgain = false;

app.on('window-all-closed', () => app.quit());
app.on('will-quit', (event) => {
  // Also while it is ending, which must not be cut off.
  event.preventDefault();
  void end(0);
});

// Electron becomes ready only after this module has been evaluated. So await here what
// must come first, but nothing that needs Electron ready.
const opened = await openHome().catch(toErrorData);
if (!isErrorData(opened)) {
  // One instance per home, so Electron's own files belong to the home too.
  const userData = path.join(opened.directory, 'window');
  mkdirSync(userData, { recursive: true, mode: 0o700 });
  app.setPath('userData', userData);
}
void main();

async function main(): Promise<void> {
  if (!isErrorData(opened) && !app.requestSingleInstanceLock()) {
    // The first instance is notified and raises its window.
    app.exit(0);
    return;
  }
  app.on('second-instance', () => {
    if (ending === undefined) raise(window);
    else startsAgain = true;
  });
  await app.whenReady();
  try {
    if (isErrorData(opened)) throw new GradwireError(opened);
    await run(opened);
    await tellWindowShown();
  } catch (error) {
    // A window that is closed while it loads its page fails to.
    if (ending !== undefined || window?.isDestroyed() === true) return;
    const data = toErrorData(error);
    await tellFailed(data);
    await end(data.kind === 'input' ? 2 : 1);
  }
}

async function run(home: Home): Promise<void> {
  const root = installationRoot();
  const core = resources.adopt(
    await createAppCore({ home, host: 'electron' }),
    async (opened) => await opened.close(),
  );
  // Whoever started it may have closed its error output.
  process.stderr.on('error', () => undefined);
  resources.use(
    catchFaults(home, (error) => {
      core.report(error);
    }),
  );
  const sessions = resources.adopt(new Sessions(core), (open) => open.close());

  protocol.handle(
    APP_SCHEME,
    answerAppRequests(path.join(root, 'dist', 'desktop', 'renderer')),
  );
  ipcMain.on(IPC_CHANNELS.connect, (event) => {
    const frame = event.senderFrame;
    const admitted = admitsSender({
      url: frame?.url,
      isMainFrame: frame !== null && frame.parent === null,
      isOwnWindow: event.sender === window?.webContents,
    });
    if (!admitted || frame === null) return;
    const { port1, port2 } = new MessageChannelMain();
    sessions.serve(portChannel(port1));
    frame.postMessage(IPC_CHANNELS.port, null, [port2]);
  });
  Menu.setApplicationMenu(
    Menu.buildFromTemplate(
      menuTemplate(process.platform, send, () => void shell.openExternal(PAPERS)),
    ),
  );
  window = createMainWindow(root, home.directory);
  resources.defer(core.observe(notifyOfAlerts(core.api, () => window, raise)));
  resources.defer(
    core.observe(
      showProgress((progress) => {
        if (window?.isDestroyed() === false) window.setProgressBar(progress);
      }),
    ),
  );
  await showApp(window);
}

function send(command: HostCommand): void {
  raise(window);
  window?.webContents.send(IPC_CHANNELS.command, command);
}

function raise(shown: BrowserWindow | undefined): void {
  if (shown === undefined || shown.isDestroyed()) return;
  if (shown.isMinimized()) shown.restore();
  shown.show();
  shown.focus();
}

/** Ends the app, once: the first call's code counts. */
function end(code: number): Promise<void> {
  ending ??= (async () => {
    try {
      await resources.disposeAsync();
    } finally {
      if (startsAgain) app.relaunch();
      app.exit(code);
    }
  })();
  return ending;
}
