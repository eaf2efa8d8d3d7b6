import { expect, test } from 'vitest';
import { FolderBrowser } from '../../../src/renderer/state/experiment/folder-browser.svelte.ts';
import { inputError } from '../../../src/shared/errors/errors.ts';
import { ScriptedHost } from './scripted-host.ts';

const listing = (path: string) => ({
  path,
  places: [],
  folders: [],
  scripts: [],
  isCut: false,
});

test('an answer about a folder that was left meanwhile does not count', async () => {
  const host = new ScriptedHost();
  const browser = new FolderBrowser(host.connection.api);
  const first = browser.open('/slow');
  const second = browser.open('/quick');
  const [slow, quick] = host.waiting('folder');
  await quick!.answer(listing('/quick'));
  expect(await second).toBe('/quick');
  await slow!.answer(listing('/slow'));
  expect(await first).toBeUndefined();
  expect(browser.listing?.path).toBe('/quick');
});

test('a folder that cannot be read has its error, until another one is', async () => {
  const host = new ScriptedHost();
  const browser = new FolderBrowser(host.connection.api);
  const failing = browser.open('/gone');
  await host.next('folder').fail(inputError('WORKDIR_MISSING', 'there is no /gone'));
  expect(await failing).toBeUndefined();
  expect(browser.error?.code).toBe('WORKDIR_MISSING');
  expect(browser.isReading).toBe(false);
  const reading = browser.open('/');
  await host.next('folder').answer(listing('/'));
  expect(await reading).toBe('/');
  expect(browser.error).toBeUndefined();
});

test('what was read before is forgotten, and an answer about it does not come back', async () => {
  const host = new ScriptedHost();
  const browser = new FolderBrowser(host.connection.api);
  const reading = browser.open('/old');
  browser.forget();
  expect(browser.isReading).toBe(false);
  await host.next('folder').answer(listing('/old'));
  expect(await reading).toBeUndefined();
  expect(browser.listing).toBeUndefined();
});
