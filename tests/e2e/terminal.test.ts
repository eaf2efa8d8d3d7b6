/** A terminal on a machine's card, in a real Chromium: typed into, coloured, resized, closed. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AppPage } from '../harness/app-page.ts';
import { SshServer } from '../harness/sshd.ts';

let app: AppPage;
let machine: SshServer;
let page: Page;

beforeAll(async () => {
  machine = await SshServer.start({ shellStart: "PS1='box> '\n" });
  // A login shell reads this one.
  writeFileSync(path.join(machine.home, '.bash_profile'), '. ~/.bashrc\n');
  app = await AppPage.open({ permissions: ['clipboard-read', 'clipboard-write'] });
  ({ page } = app);
});

afterAll(async () => {
  await app?.[Symbol.asyncDispose]();
  await machine?.[Symbol.asyncDispose]();
});

const part = (testId: string) => app.part(testId);
const screen = () =>
  page.locator('[data-testid=terminal-pane]:not([hidden]) .xterm-rows');
const shows = (text: string | RegExp) => screen().filter({ hasText: text }).waitFor();

async function enter(line: string): Promise<void> {
  await page.keyboard.type(line);
  await page.keyboard.press('Enter');
}

test('opens on the card, asks for the host’s key, and is typed into', async () => {
  await part('connection-status').filter({ hasText: 'connected' }).waitFor();
  await app.go('Cluster');
  await part('add-node').click();
  await part('node-host').fill('127.0.0.1');
  await part('node-port').fill(String(machine.port));
  await part('node-identity').fill(machine.key);
  await part('node-name').fill('box');
  await part('node-confirm').click();
  await part('node-box').getByTestId('node-terminal').click();
  await part('question-accept').click();
  await shows('box>');
  await part('terminal-tab').filter({ hasText: 'box' }).waitFor();
  await page.locator('[data-testid=terminal-pane] textarea').focus();
  await enter('echo "$((6 * 7)) $TERM"');
  await shows('42 xterm-256color');
  await enter("printf '\\033[38;2;200;40;40mdeep\\033[0m \\033[31mred\\033[0m\\n'");
  const deep = screen().locator('span', { hasText: /^deep$/ });
  await deep.waitFor();
  // Set by the program, and moved only as far as the contrast needs.
  const colour = await deep.evaluate((element) => getComputedStyle(element).color);
  expect(colour).toMatch(/^rgb\(2\d\d, \d\d, \d\d\)$/);
  expect(await app.obstacles()).toEqual([]);
});

test('below its last row it has the colour of the page, in both themes', async () => {
  const colourOf = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => getComputedStyle(element).backgroundColor);
  const first = await colourOf('.terminals');
  expect(await colourOf('.xterm-viewport')).toBe(first);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(() => colourOf('.terminals')).not.toBe(first);
  const dark = await colourOf('.terminals');
  await expect.poll(() => colourOf('.xterm-viewport')).toBe(dark);
  await page.emulateMedia({ colorScheme: null });
});

test('its size is that of its place, also after that has changed', async () => {
  const size = async (): Promise<string> => {
    await enter('clear; echo "size $(stty size)"');
    await shows(/size \d+ \d+/);
    return /size (\d+ \d+)/.exec(await screen().innerText())![1]!;
  };
  const before = await size();
  await page.setViewportSize({ width: 900, height: 700 });
  let after = before;
  await expect
    .poll(async () => (after = await size()), { interval: 200 })
    .not.toBe(before);
  const columns = (text: string): number => Number(text.split(' ')[1]);
  expect(columns(after)).toBeLessThan(columns(before));
  await page.setViewportSize({ width: 1440, height: 900 });
});

test('a flood leaves the page alive, and Ctrl+C ends it', async () => {
  await enter('yes flood');
  await shows('flood');
  // The page answers while it goes on.
  await part('theme-switch').click();
  await part('theme-switch').click();
  await page.locator('[data-testid=terminal-pane] textarea').focus();
  await page.keyboard.press('Control+c');
  await enter('clear; echo over');
  await shows(/^[^f]*over/);
});

test('copies and pastes by keys, and is left by one', async () => {
  await enter('clear; echo copied-"text"');
  await shows('copied-text');
  // What is drawn lies beneath what takes the mouse.
  await screen().getByText('copied-text', { exact: true }).dblclick({ force: true });
  await page.keyboard.press('Control+Shift+C');
  await page.keyboard.type('echo pasted-');
  await page.keyboard.press('Control+Shift+V');
  await page.keyboard.press('Enter');
  await shows('pasted-copied-text');
  await page.keyboard.press('Control+Shift+ArrowUp');
  expect(await page.locator(':focus').getAttribute('data-testid')).toBe('terminal-tab');
});

test(
  'has tabs; its shell’s end is told, and another opened in its place',
  { tags: 'soak' },
  async () => {
    await part('terminal-new').click();
    await shows('box>');
    expect(await part('terminal-tab').count()).toBe(2);
    await enter('exit 3');
    await part('terminal-state').filter({ hasText: 'ended with status 3' }).waitFor();
    expect(await app.obstacles()).toEqual([]);
    await part('terminal-again').click();
    await page
      .locator('[data-testid=terminal-pane][data-state=open]:not([hidden])')
      .waitFor();
    await machine.cutSessions();
    await page
      .locator('[data-testid=terminal-pane]:not([hidden])')
      .getByTestId('terminal-state')
      .filter({ hasText: 'SSH_CONNECTION_LOST' })
      .waitFor();
    await part('terminal-close').click();
    await part('terminal-close').click();
    await part('terminals').waitFor({ state: 'detached' });
    expect(app.errors).toEqual([]);
  },
);

/** Of the page, where functions of `evaluate` run. */
declare function getComputedStyle(element: unknown): {
  readonly color: string;
  readonly backgroundColor: string;
};
