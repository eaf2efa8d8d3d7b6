/** The window itself, where Electron's binary is installed and may be sandboxed: not as root. */
import path from 'node:path';
import { _electron } from 'playwright-core';
import { expect, test } from 'vitest';
import { findElectron } from '../../src/main/serve/electron-binary.ts';
import { GradwireHome } from '../harness/gradwire.ts';

const root = path.join(import.meta.dirname, '../..');
const electron = findElectron(root);
const mayRun = electron.kind === 'installed' && process.getuid?.() !== 0;

test.skipIf(!mayRun)('a window shows the app, isolated and sandboxed', async () => {
  await using home = new GradwireHome();
  const app = await _electron.launch({
    executablePath: electron.kind === 'installed' ? electron.binary : '',
    args: [root],
    env: { ...(process.env as Record<string, string>), GRADWIRE_HOME: home.directory },
  });
  try {
    const page = await app.firstWindow();
    await page.getByTestId('connection-status').waitFor();
    expect(page.url()).toMatch(/^app:\/\/gradwire\//);
    expect(await page.evaluate('[typeof require, typeof process]')).toEqual([
      'undefined',
      'undefined',
    ]);
    const opened = app.windows().length;
    await page.evaluate("window.open('https://example.org/')");
    expect(app.windows()).toHaveLength(opened);
  } finally {
    await app.close();
  }
});
