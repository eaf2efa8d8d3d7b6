/** The links between machines on the Cluster page: measured, cancelled, drawn as a map. */
import type { Page } from 'playwright-core';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AppPage } from '../harness/app-page.ts';
import type { GradwireHome } from '../harness/gradwire.ts';
import { SshServer } from '../harness/sshd.ts';

let app: AppPage;
let home: GradwireHome;
let machine: SshServer;
let page: Page;

beforeAll(async () => {
  const shellStart = `export PATH=${path.dirname(process.execPath)}:$PATH\n`;
  machine = await SshServer.start({ shellStart });
  app = await AppPage.open({
    prepare: async (fresh) => {
      const address = ['--host', '127.0.0.1', '--port', String(machine.port)];
      await fresh.run(['nodes', 'add', 'box', ...address, '--identity', machine.key]);
      await fresh.run(['nodes', 'add', 'gone', '--host', '127.0.0.1', '--port', '1']);
      const accept = ['--accept-host-key', machine.fingerprint()];
      await fresh.run(['nodes', 'check', 'box', ...accept]);
    },
  });
  ({ home, page } = app);
});

afterAll(async () => {
  await app?.[Symbol.asyncDispose]();
  await machine?.[Symbol.asyncDispose]();
});

const part = (testId: string) => app.part(testId);

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
  expect(await app.obstacles()).toEqual([]);
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
  expect(app.errors).toEqual([]);
});
