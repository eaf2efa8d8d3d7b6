/** The links between machines on the Cluster page: measured, cancelled, drawn as a map. */
import { appendFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
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
  await app.go('Cluster');
  // What the command has found is kept, with its date.
  const checked = part('node-box').getByTestId('node-checked');
  expect(await checked.innerText()).toMatch(
    /^Ready for runs\. Checked today \d\d:\d\d/,
  );
  expect(await part('node-box').getByTestId('node-agent').count()).toBe(0);
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

test(
  'what a command has measured within machines is on the diagonal',
  { tags: 'soak' },
  async () => {
    const bench = ['bench', 'network', '--quick', '--ranks', '2'];
    expect(await home.run([...bench, '--node', 'box'])).toMatchObject({ code: 0 });
    await part('within-box')
      .filter({ hasText: /bit\/s/ })
      .waitFor();
    expect(await part('within-box').getAttribute('title')).toMatch(
      /^Within box: 2 ranks at once, over \w+$/,
    );
    expect(await app.obstacles()).toEqual([]);
  },
);

test('measuring has deployed the agent, and the card has the round trip', async () => {
  await part('node-box').getByTestId('node-agent').waitFor();
  await part('node-box')
    .getByTestId('node-state')
    .filter({ hasText: /^connected, (< )?\d+ ms$/ })
    .waitFor();
});

test('this computer is inspected like the others', async () => {
  const here = part('node-this-computer');
  await here.getByTestId('node-ready').waitFor();
  const text = await here.innerText();
  expect(text).toContain(`${os.type()} ${os.release()}`);
  expect(text).toMatch(new RegExp(`cores\\s+${os.availableParallelism()}\\s`));
  expect(text).toMatch(/memory\s+[\d.]+ GB/);
  await here.getByTestId('node-check').click();
  await here.getByTestId('node-check').waitFor();
});

test('the log of a machine’s supervisor is on its card, read again when asked', async () => {
  const box = part('node-box');
  await box.getByTestId('node-log-toggle').click();
  await box.getByTestId('node-log-empty').filter({ hasText: 'is empty' }).waitFor();
  const log = path.join(
    machine.home,
    '.gradwire/nodes',
    os.hostname(),
    'supervisor.log',
  );
  const lines = Array.from({ length: 300 }, (_, index) => `line ${index} \x1b[31mred`);
  appendFileSync(log, `${lines.join('\n')}\n`);
  await box.getByTestId('node-log-again').click();
  const shown = box.getByTestId('node-log');
  await shown.filter({ hasText: 'line 299 \\x1b[31mred' }).waitFor();
  expect(await shown.innerText()).not.toContain('line 99 ');
  expect(await app.obstacles()).toEqual([]);
  await part('node-this-computer').getByTestId('node-log-toggle').click();
  await part('node-this-computer').getByTestId('node-log-empty').waitFor();
});

test(
  'the map says when machines are out of sight, and lengthens no document',
  { tags: 'soak' },
  async () => {
    const overflow = () =>
      page.evaluate(() => document.documentElement.scrollHeight - window.innerHeight);
    expect(await overflow()).toBeLessThanOrEqual(0);
    const region = part('link-scroll');
    expect(await part('scroll-hint').count()).toBe(0);
    await page.setViewportSize({ width: 480, height: 700 });
    await part('scroll-hint').waitFor();
    await region.focus();
    await region.evaluate((element) => element.scrollTo({ left: 10_000 }));
    await part('scroll-hint').waitFor({ state: 'detached' });
    expect(await app.obstacles()).toEqual([]);
    await page.setViewportSize({ width: 900, height: 700 });
    expect(await part('scroll-hint').count()).toBe(0);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1440, height: 900 });
  },
);

test('a measurement can be cancelled; what was known stays', async () => {
  await part('measure-network').click();
  await part('network-cancel').click();
  await part('measure-network').waitFor();
  await part('link-this-computer-box')
    .filter({ hasText: /bit\/s/ })
    .waitFor();
  expect(await part('link-map').count()).toBe(1);
});

test(
  'what a command has measured is shown; a machine that goes takes its links along',
  { tags: 'soak' },
  async () => {
    await home.run(['nodes', 'remove', 'gone']);
    await part('link-box-gone').waitFor({ state: 'detached' });
    await home.run(['nodes', 'network']);
    await part('link-box-this-computer')
      .filter({ hasText: /bit\/s/ })
      .waitFor();
  },
);

test(
  'an idle machine that goes away is unreachable, since when and why, until it is back',
  { tags: 'soak' },
  async () => {
    const box = part('node-box');
    const state = (text: string | RegExp) =>
      box.getByTestId('node-state').filter({ hasText: text }).waitFor();
    await box.getByTestId('node-check').click();
    await box.getByTestId('node-ready').waitFor();
    // Whether or not the check has ended.
    await machine.stop();
    await state('reconnecting, ');
    await state('unreachable');
    const error = box.getByTestId('node-error');
    expect(await error.innerText()).toMatch(
      /^Unreachable since today \d\d:\d\d\s+nothing listens on port/,
    );
    expect(await box.getByTestId('node-ready').count()).toBe(0);
    // No run needs it: its card says enough.
    expect(await part('toast').count()).toBe(0);
    expect(await app.obstacles()).toEqual([]);
    const again = box.getByTestId('node-again');
    await again.click();
    await machine.start();
    // That attempt may still be under way, or find the machine already.
    const triedAgain = async () => {
      if (await again.isEnabled({ timeout: 1000 }).catch(() => false))
        await again.click({ timeout: 1000 }).catch(() => undefined);
      return box.getByTestId('node-state').innerText();
    };
    await expect.poll(triedAgain).toMatch(/^connected|^not connected/);
    await box.getByTestId('node-ready').waitFor();
    expect(app.errors).toEqual([]);
  },
);

/** Of the page, where functions of `evaluate` run. */
declare const document: { readonly documentElement: { readonly scrollHeight: number } };
declare const window: { readonly innerHeight: number };
