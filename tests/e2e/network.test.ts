/** The links between machines on the Cluster page: measured, cancelled, drawn as a map. */
import type { Browser, Page } from 'playwright-core';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../harness/browser.ts';
import { GradwireHome } from '../harness/gradwire.ts';
import { obstacles, watchErrors } from '../harness/page.ts';
import { openServer, type Server } from '../harness/server.ts';
import { SshServer } from '../harness/sshd.ts';

/** Limits are there for what hangs. */
const PATIENCE_MS = 240_000;

let browser: Browser;
let home: GradwireHome;
let server: Server;
let machine: SshServer;
let page: Page;
let pageErrors: readonly string[];

beforeAll(async () => {
  browser = await launchChromium();
  const shellStart = `export PATH=${path.dirname(process.execPath)}:$PATH\n`;
  machine = await SshServer.start({ shellStart });
  home = new GradwireHome();
  const address = ['--host', '127.0.0.1', '--port', String(machine.port)];
  await home.run(['nodes', 'add', 'box', ...address, '--identity', machine.key]);
  await home.run(['nodes', 'add', 'gone', '--host', '127.0.0.1', '--port', '1']);
  const accept = ['--accept-host-key', machine.fingerprint()];
  await home.run(['nodes', 'check', 'box', ...accept]);
  server = await openServer(home);
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  context.setDefaultTimeout(PATIENCE_MS);
  page = await context.newPage();
  pageErrors = watchErrors(page);
  await page.goto(server.url);
});

afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
  await machine[Symbol.asyncDispose]();
});

const part = (testId: string) => page.getByTestId(testId);

test('the network is measured with one click, and what has no link is said', async () => {
  await part('connection-status').waitFor();
  await page.keyboard.press('c');
  await part('links-measured').filter({ hasText: 'Not measured yet' }).waitFor();
  await part('measure-network').click();
  await part('network-progress').waitFor();
  await part('link-this-computer-box')
    .filter({ hasText: /bit\/s/ })
    .waitFor();
  await part('link-box-this-computer').filter({ hasText: /µs|ms/ }).waitFor();
  await part('link-box-gone').filter({ hasText: 'no link' }).waitFor();
  await part('measure-network').waitFor();
  expect(await part('link-failures').innerText()).toContain('SSH_UNREACHABLE');
  expect(await part('links-measured').innerText()).toMatch(/^Measured today/);
  expect(await obstacles(page)).toEqual([]);
});

test('a measurement can be cancelled; what was known stays', async () => {
  await part('measure-network').click();
  await part('network-cancel').click();
  await part('measure-network').waitFor();
  await part('link-this-computer-box')
    .filter({ hasText: /bit\/s/ })
    .waitFor();
  expect(await part('link-map').count()).toBe(1);
});

test('what a command has measured is shown; a machine that goes takes its links along', async () => {
  await home.run(['nodes', 'remove', 'gone']);
  await part('link-box-gone').waitFor({ state: 'detached' });
  await home.run(['nodes', 'network']);
  await part('link-box-this-computer')
    .filter({ hasText: /bit\/s/ })
    .waitFor();
  expect(pageErrors).toEqual([]);
});
