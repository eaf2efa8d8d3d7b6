/**
 * The twenty points of Electron's security checklist
 * (https://www.electronjs.org/docs/latest/tutorial/security), asserted of the app's main process as it
 * starts on a faked Electron, and its progress on the window's icon. A window of the real one is `tests/e2e/electron.test.ts`'s.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { configuration } from '../../../scripts/desktop/configuration.ts';
import { IPC_CHANNELS } from '../../../src/shared/rpc/host-bridge.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { until } from '../../harness/processes.ts';
import { electron, FakeFrame, FakeWindow } from './fake-electron.ts';

const root = path.join(import.meta.dirname, '../../..');
const home = new GradwireHome();

// The process that started this one is the runner of tests.
vi.mock('../../../src/main/electron/starter.ts', () => ({
  tellWindowShown: () => Promise.resolve(),
  tellFailed: (error: unknown) => Promise.reject(error as Error),
}));
vi.mock('electron', async () => (await import('./fake-electron.ts')).electron);

let window: FakeWindow;

beforeAll(async () => {
  vi.stubEnv('GRADWIRE_HOME', home.directory);
  await import('../../../src/main/electron/index.ts');
  const made = await until(
    () => FakeWindow.made[0],
    (found) => found?.loaded.length === 1,
    'the window to show the page',
  );
  window = made!;
});

afterAll(async () => {
  electron.app.emit('will-quit', { preventDefault: () => undefined });
  expect(await electron.app.exited.promise).toBe(0);
  vi.unstubAllEnvs();
  await home[Symbol.asyncDispose]();
});

const preferences = () => window.options.webPreferences;
const answer = (url: string): Promise<Response> =>
  electron.answers.get('app')!(new Request(url));

/** Whether an event of the page was prevented. */
function isPrevented(name: string, url: string): boolean {
  let prevented = false;
  window.webContents.emit(name, { url, preventDefault: () => (prevented = true) });
  return prevented;
}

/** Number of ports that a page gets which asks for one to the main process. */
function ask(frame: FakeFrame | null, sender: unknown = window.webContents): number {
  electron.ipcMain.emit(IPC_CHANNELS.connect, { senderFrame: frame, sender });
  return frame?.given.length ?? 0;
}

test('1: only secure content is loaded', async () => {
  expect(window.loaded).toEqual(['app://gradwire/']);
  expect(electron.schemes).toEqual([
    {
      scheme: 'app',
      privileges: { standard: true, secure: true, supportFetchAPI: true },
    },
  ]);
  const response = await answer('app://gradwire/');
  expect(response.status).toBe(200);
  expect(await response.text()).not.toMatch(/https?:/);
});

test('2, 3, 4: no Node in the page, which is isolated and sandboxed', () => {
  expect(preferences()).toMatchObject({
    nodeIntegration: false,
    contextIsolation: true,
    sandbox: true,
  });
  // For every renderer, before Electron is ready.
  expect(electron.app.asked).toEqual(['sandbox', 'ready']);
  expect(Object.keys(preferences())).not.toContain('nodeIntegrationInWorker');
  expect(Object.keys(preferences())).not.toContain('nodeIntegrationInSubFrames');
});

test('5: permissions are refused, but writing text to the clipboard', () => {
  const { handlers } = window.webContents.session;
  const check = handlers.get('check') as (page: null, permission: string) => boolean;
  const request = handlers.get('request') as (
    page: null,
    permission: string,
    decide: (granted: boolean) => void,
  ) => void;
  const granted = [
    ...['media', 'geolocation', 'notifications', 'midi', 'pointerLock', 'fullscreen'],
    ...['openExternal', 'clipboard-read', 'hid', 'serial', 'usb', 'fileSystem'],
    'clipboard-sanitized-write',
  ].filter((permission) => {
    let decided: boolean | undefined;
    request(null, permission, (one) => (decided = one));
    expect(decided).toBe(check(null, permission));
    return decided;
  });
  expect(granted).toEqual(['clipboard-sanitized-write']);
  expect((handlers.get('device') as () => boolean)()).toBe(false);
});

test('6, 8, 9, 10, 12: nothing that makes the page less safe is switched on', () => {
  for (const option of [
    ...['webSecurity', 'allowRunningInsecureContent', 'experimentalFeatures'],
    ...['enableBlinkFeatures', 'additionalArguments', 'plugins'],
  ]) {
    expect(preferences()).not.toHaveProperty(option);
  }
  expect(preferences()['webviewTag']).toBe(false);
});

test('7: a content security policy allows the page’s own files alone', async () => {
  const { headers } = await answer('app://gradwire/index.html');
  const policy = headers.get('content-security-policy')!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|\*|https?:|blob:/);
});

test('11, 12: no webview is attached, whatever asks for it', () => {
  expect(isPrevented('will-attach-webview', '')).toBe(true);
  const sources = globSync('src/renderer/**/*.{svelte,html}', { cwd: root });
  const withTag = sources.filter((file) =>
    /<webview|allowpopups/i.test(readFileSync(path.join(root, file), 'utf8')),
  );
  expect(withTag).toEqual([]);
});

test('13: the window goes nowhere else', () => {
  for (const event of ['will-navigate', 'will-frame-navigate']) {
    expect(isPrevented(event, 'app://gradwire/#/runs')).toBe(false);
    for (const url of ['https://arxiv.org/', 'file:///etc/passwd', 'app://other/']) {
      expect([event, url, isPrevented(event, url)]).toEqual([event, url, true]);
    }
  }
  expect(isPrevented('will-redirect', 'app://gradwire/')).toBe(true);
});

test('14, 15: no window is opened, and only cited sites by the browser', () => {
  const open = window.webContents.openHandler!;
  for (const url of [
    'https://arxiv.org/abs/1802.08021',
    'https://arxiv.org.evil.example/',
    'http://arxiv.org/',
    'file:///usr/bin/calculator',
    'smb://host/share',
    'javascript:alert(1)',
  ]) {
    expect(open({ url })).toEqual({ action: 'deny' });
  }
  expect(electron.opened).toEqual(['https://arxiv.org/abs/1802.08021']);
});

test('16: one version of Electron is pinned, and it is what npm installs', () => {
  const version = (file: string): string =>
    (JSON.parse(readFileSync(path.join(root, file), 'utf8')) as { version: string })
      .version;
  const { devDependencies } = JSON.parse(
    readFileSync(path.join(root, 'package.json'), 'utf8'),
  ) as { devDependencies: Record<string, string> };
  expect(devDependencies['electron']).toMatch(/^\d+\.\d+\.\d+$/);
  expect(version('node_modules/electron/package.json')).toBe(
    devDependencies['electron'],
  );
});

test('17: only the app’s own page, in its own frame and window, gets a port', () => {
  const page = 'app://gradwire/index.html#/runs';
  const top = new FakeFrame(page);
  expect(ask(new FakeFrame('https://evil.example/'))).toBe(0);
  expect(ask(new FakeFrame('file:///tmp/page.html'))).toBe(0);
  expect(ask(new FakeFrame(page, top))).toBe(0);
  expect(ask(new FakeFrame(page), {})).toBe(0);
  expect(ask(null)).toBe(0);
  expect(ask(top)).toBe(1);
  // Nothing else is listened to.
  expect(electron.ipcMain.eventNames()).toEqual([IPC_CHANNELS.connect]);
});

test('18: pages come by a protocol of the app’s own, which reads no other files', async () => {
  expect([...electron.answers.keys()]).toEqual(['app']);
  for (const url of [
    'app://gradwire/../main/index.js',
    'app://gradwire/%2e%2e/%2e%2e/package.json',
    'app://gradwire//etc/passwd',
    'app://other/index.html',
  ]) {
    expect([url, (await answer(url)).status]).toEqual([url, 404]);
  }
});

test('19: fuses leave the packed app no way to run something else', () => {
  const places = { root, output: '', electron: undefined, electronVersion: '' };
  expect(configuration(places).electronFuses).toEqual({
    runAsNode: false,
    enableNodeOptionsEnvironmentVariable: false,
    enableNodeCliInspectArguments: false,
    enableCookieEncryption: true,
    enableEmbeddedAsarIntegrityValidation: true,
    onlyLoadAppFromAsar: true,
    loadBrowserProcessSpecificV8Snapshot: false,
    grantFileProtocolExtraPrivileges: false,
  });
});

test('the window’s icon shows how far a run is, and then nothing', async () => {
  const settings = ['iterations=100000', 'world.ranks=1', 'evaluateEvery=0'];
  const command = ['run', 'quickstart', ...settings.flatMap((one) => ['--set', one])];
  succeeded(await home.run([...command, '--detach']));
  await until(
    () => window.progress.at(-1),
    (share) => share !== undefined && share >= 0 && share <= 1,
    'its share to be shown',
  );
  succeeded(await home.run(['runs', 'stop', 'last']));
  await until(
    () => window.progress.at(-1),
    (share) => share === -1,
    'its end to be shown',
  );
});

test('20: the page gets three functions, none of which takes a channel', async () => {
  const exposed = new Map<string, object>();
  vi.doMock('electron', () => ({
    contextBridge: {
      exposeInMainWorld: (name: string, api: object) => exposed.set(name, api),
    },
    ipcRenderer: {
      on: () => undefined,
      off: () => undefined,
      send: (...sent: unknown[]) => {
        expect(sent).toEqual([IPC_CHANNELS.connect]);
      },
    },
  }));
  await import('../../../src/preload/index.ts');
  expect([...exposed.keys()]).toEqual(['gradwireHost']);
  const bridge = exposed.get('gradwireHost') as Record<string, unknown>;
  expect(Object.keys(bridge).sort()).toEqual(['onCommand', 'platform', 'requestPort']);
  (bridge['requestPort'] as (channel: string) => void)('another-channel');
  vi.doUnmock('electron');
});
