/** The end of the app's main process, on a faked Electron: once, whole, and started again if asked. */
import { expect, test, vi } from 'vitest';
import { GradwireHome } from '../../harness/gradwire.ts';
import { until } from '../../harness/processes.ts';
import { electron, FakeWindow } from './fake-electron.ts';

const told = vi.hoisted(() => [] as unknown[]);
vi.mock('../../../src/main/electron/starter.ts', () => ({
  tellWindowShown: () => Promise.resolve(told.push('window')),
  tellFailed: (error: unknown) => Promise.resolve(told.push(error)),
}));
vi.mock('electron', async () => (await import('./fake-electron.ts')).electron);

/** @returns whether Electron was kept from ending by itself */
function quit(): boolean {
  let prevented = false;
  electron.app.emit('will-quit', { preventDefault: () => (prevented = true) });
  return prevented;
}

test('a second quit cuts nothing off, and a start meanwhile is not lost', async () => {
  await using home = new GradwireHome();
  vi.stubEnv('GRADWIRE_HOME', home.directory);
  const page = Promise.withResolvers<undefined>();
  FakeWindow.loading = page.promise;
  await import('../../../src/main/electron/index.ts');
  await until(
    () => FakeWindow.made[0]?.loaded.length,
    (count) => count === 1,
    'the window to load its page',
  );
  expect(quit()).toBe(true);
  // The window is gone, and so is what it was loading.
  page.reject(new Error('ERR_ABORTED (-3) loading app://gradwire/'));
  expect(quit()).toBe(true);
  electron.app.emit('second-instance');
  expect(electron.app.ends).toEqual([]);
  expect(await electron.app.exited.promise).toBe(0);
  expect(quit()).toBe(true);
  await new Promise((resolve) => setImmediate(resolve));
  expect(electron.app.ends).toEqual(['relaunch', 'exit 0']);
  expect(told).toEqual([]);
  vi.unstubAllEnvs();
});
