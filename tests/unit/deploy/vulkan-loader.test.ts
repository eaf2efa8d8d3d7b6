/** The Vulkan loader that agents bring: Electron's, whether the command or the app packs them. */
import { createRequire } from 'node:module';
import path from 'node:path';
import { expect, test } from 'vitest';
import { electronFolders } from '../../../src/main/deploy/package-files.ts';

test('the command looks where the app runs from', () => {
  const { resolve } = createRequire(import.meta.url);
  const electron = path.dirname(resolve('electron/package.json'));
  expect(electronFolders()).toEqual([path.join(electron, 'dist')]);
});
