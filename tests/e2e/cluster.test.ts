/**
 * A machine is added, deployed to and trained on from the page: a real Chromium, a real
 * sshd, an encrypted key, and a host key that is not known yet.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunDetail } from '../../src/shared/rpc/run-summary.ts';
import { AppPage } from '../harness/app-page.ts';
import { GradwireHome, succeeded } from '../harness/gradwire.ts';
import { LASTING_SPEC } from '../harness/lasting-runs.ts';
import { until } from '../harness/processes.ts';
import { makeKey } from '../harness/ssh-keys.ts';
import { passwordsMissing, SshServer } from '../harness/sshd.ts';
import { filesWith, processesWith } from '../harness/traces.ts';
import { inUserHome } from '../harness/user-home.ts';

const PASSPHRASE = 'correct horse battery staple';

/** It takes a mount namespace too. */
const noHomes = passwordsMissing();

let app: AppPage;
let home: GradwireHome;
let machine: SshServer;
let page: Page;

beforeAll(async () => {
  // Its Node is there: the way with one that has to be brought is ssh-node.test.ts’s.
  const shellStart = `export PATH=${path.dirname(process.execPath)}:$PATH\n`;
  machine = await SshServer.start({ shellStart });
  const user = path.join(machine.directory, 'user');
  mkdirSync(path.join(user, '.ssh'), { recursive: true });
  const names = ['lab-1', 'lab-2'].map((name) => `Host ${name}\n`);
  writeFileSync(path.join(user, '.ssh', 'config'), `${names.join('')}Host *.lab\n`);
  app = await AppPage.open(noHomes === undefined ? { shell: inUserHome(user) } : {});
  ({ home, page } = app);
});

afterAll(async () => {
  await app?.[Symbol.asyncDispose]();
  await machine?.[Symbol.asyncDispose]();
});

const part = (testId: string) => app.part(testId);
const box = () => part('node-box');

test.skipIf(noHomes !== undefined)(
  'hosts of ~/.ssh/config are offered on the first page while no machine was added',
  async () => {
    await part('host-add-lab-1').click();
    await part('host-added-lab-1').waitFor();
    expect(await part('host-add-lab-2').count()).toBe(1);
    expect(await part('host-offer').innerText()).not.toContain('*.lab');
    expect(await app.obstacles()).toEqual([]);
    await part('hosts-cluster').click();
    await part('node-lab-1').getByTestId('node-menu').click();
    await page.keyboard.press('Escape');
    await app.go('Start');
    await part('try-button').waitFor();
    expect(await part('host-offer').count()).toBe(0);
    await home.run(['nodes', 'remove', 'lab-1']);
    await part('host-offer').waitFor();
  },
);

test('a machine is added by hand; what is wrong with an entry is said there', async () => {
  const key = makeKey(path.join(machine.directory, 'locked'), {
    passphrase: PASSPHRASE,
  });
  machine.authorize(key);
  await part('connection-status').filter({ hasText: 'connected' }).waitFor();
  await app.go('Cluster');
  await part('add-node').click();
  await part('node-host').fill('127.0.0.1');
  await part('node-port').fill(String(machine.port));
  await part('node-identity').fill(key);
  await part('node-name').fill('not a name');
  await part('node-confirm').click();
  await page
    .locator('#node-name-said')
    .filter({ hasText: 'letters, digits' })
    .waitFor();
  await part('node-name').fill('this-computer');
  await page.locator('#node-name-said').filter({ hasText: 'this computer' }).waitFor();
  await part('node-name').fill('box');
  await part('node-more').click();
  await part('node-labels').fill('loopback, spare');
  await part('node-confirm').click();
  await box().getByText('spare').waitFor();
  expect(await app.obstacles()).toEqual([]);
});

test('it is edited in the same form; what it has been told is there', async () => {
  await box().getByTestId('node-menu').click();
  await part('node-edit').click();
  await part('node-dialog').getByText('Edit box').waitFor();
  const value = (field: string) => part(`node-${field}`).inputValue();
  expect(await value('host')).toBe('127.0.0.1');
  expect(await value('port')).toBe(String(machine.port));
  expect(await value('identity')).toBe(path.join(machine.directory, 'locked'));
  expect(await value('labels')).toBe('loopback, spare');
  await part('node-host').fill('');
  await part('node-confirm').click();
  await page.locator('#node-host-said').filter({ hasText: 'it is missing' }).waitFor();
  expect(await page.locator(':focus').getAttribute('id')).toBe('node-host');
  await part('node-host').fill('127.0.0.1');
  await part('node-jump').fill('a;b');
  await part('node-confirm').click();
  await page
    .locator('#node-jump-said')
    .filter({ hasText: 'not a host name' })
    .waitFor();
  expect(await app.obstacles()).toEqual([]);
  await part('node-jump').fill('');
  await part('node-labels').fill('loopback, edited');
  await part('node-confirm').click();
  await box().getByText('edited').waitFor();
  expect(await box().getByText('spare').count()).toBe(0);
});

test('its key is asked about, and refused until the user has compared it', async () => {
  await box().getByTestId('node-check').click();
  expect(await part('fingerprint').innerText()).toBe(machine.fingerprint());
  expect(await app.obstacles()).toEqual([]);
  await part('question-refuse').click();
  await box()
    .getByTestId('node-error')
    .filter({ hasText: 'HOST_KEY_REFUSED' })
    .waitFor();

  await appendFile(path.join(home.directory, 'known_hosts'), 'nonsense\n');
  await box().getByTestId('node-check').click();
  await part('question-accept').click();
  // The wrong passphrase first: it is asked for again.
  await page.waitForFunction(
    () => document.activeElement?.id === 'secret-0',
    undefined,
    { polling: 100 },
  );
  await part('secret-0').fill('wrong');
  await part('question-accept').click();
  await page.waitForFunction(
    () => {
      const field = document.querySelector('[data-testid=secret-0]');
      return field !== null && (field as { value?: string }).value === '';
    },
    undefined,
    { polling: 100 },
  );
  expect(await app.obstacles()).toEqual([]);
  await part('secret-0').fill(PASSPHRASE);
  await part('question-accept').click();
  await box().getByTestId('node-ready').waitFor();
  await box()
    .getByTestId('node-notices')
    .filter({ hasText: 'known_hosts:1: not HOSTS TYPE KEY' })
    .waitFor();
  expect(existsSync(path.join(machine.home, '.gradwire'))).toBe(false);
});

test('the agent is deployed with one click', async () => {
  await box().getByTestId('node-deploy').click();
  await box().getByTestId('node-activity').filter({ hasText: 'Deploying' }).waitFor();
  await box().getByTestId('node-agent').waitFor();
});

test('a run has ranks on both machines, live, and is switched in the middle', async () => {
  await app.go('New experiment');
  for (const text of [/^\d+ cores?$/, /^\d+ cores?, ready$/])
    await page.getByText(text).waitFor();
  await part('field-world.nodes-box').check();
  const { iterations, network } = LASTING_SPEC;
  await part('field-network.bandwidth').fill(network.bandwidth);
  await part('field-network.latency').fill(network.latency);
  await part('field-iterations').fill(String(iterations));
  await part('field-iterations').press('Tab');
  await part('spec-yaml').waitFor();
  await page.waitForFunction(
    (parts) => {
      const text = document.querySelector('[data-testid=spec-yaml]') as {
        value?: string;
      } | null;
      return parts.every((part) => text?.value?.includes(part));
    },
    ['box', String(iterations), ...Object.values(network)],
    { polling: 100 },
  );
  await part('launch').click();
  await part('run-machines').filter({ hasText: 'on this computer and box' }).waitFor();
  await part('rank-3').filter({ hasText: 'box' }).waitFor();
  await part('rank-0').filter({ hasText: 'this computer' }).waitFor();
  await part('switch-method').selectOption('topk');
  await part('switch-apply').click();
  await part('events').filter({ hasText: 'topk' }).waitFor();
  expect(await app.obstacles()).toEqual([]);

  await app.go('Cluster');
  await box().getByTestId('node-state').filter({ hasText: 'connected' }).waitFor();
  await box().getByRole('link').waitFor();
  // In use: it stays.
  await box().getByTestId('node-menu').click();
  await part('node-remove').click();
  await part('remove-confirm').click();
  await page.getByText('Stop that run first').waitFor();
});

test('layers have a method of their own there, and the guard takes the switch back', async () => {
  await box().getByRole('link').click();
  await part('switch-back').click();
  await part('current-plan').filter({ hasText: /^none/ }).waitFor();
  // Of a residual that grows: without one before, the limit is of the first ones after the fence.
  await part('switch-method').selectOption('topk');
  await part('switch-parameter-ratio').fill('0.001');
  await part('switch-parameter-ratio').press('Tab');
  await part('layer-add').click();
  const matching = (tensors: string) =>
    part('layer-tensors-0').filter({ hasText: tensors }).waitFor();
  await matching('6 of 6 tensors, ');
  // They are told while the pattern is typed.
  await part('layer-match-0').fill('layer9.*');
  await matching('No tensor');
  await part('layer-match-0').fill('layer2.*');
  await matching('2 of 6 tensors, ');
  await part('layer-match-0').press('Tab');
  await matching('2 of 6 tensors, ');
  await part('layer-method-0').selectOption('qsgd');
  await part('guard-fields').click();
  await part('guard-residual').check();
  await page.getByLabel('Limit of the residual norm').fill('1.2');
  await page.getByLabel('Limit of the residual norm').press('Tab');
  expect(await app.obstacles()).toEqual([]);
  await part('switch-apply').click();
  await part('switch-why')
    .filter({ hasText: /residual norm/ })
    .waitFor();
  await part('current-plan').filter({ hasText: /^none/ }).waitFor();
  const { stdout } = succeeded(await home.run(['runs', 'show', 'last', '--json']));
  const { events } = JSON.parse(stdout) as RunDetail;
  const [there, back] = events
    .filter((event) => event.type === 'switch')
    .toSorted((a, b) => a.epoch - b.epoch)
    .slice(-2);
  expect(there).toMatchObject({
    from: { method: 'none' },
    to: { method: 'topk', layers: [{ match: 'layer2.*', method: 'qsgd' }] },
  });
  expect(there?.why).toBeUndefined();
  expect(back).toMatchObject({ to: { method: 'none' } });
  expect(back?.why).toMatch(/residual/);
  await app.go('Cluster');
});

test('its entry goes on to mean this machine, in use', { tags: 'soak' }, async () => {
  await box().getByTestId('node-menu').click();
  await part('node-edit').click();
  await part('node-in-use').filter({ hasText: 'has ranks here' }).waitFor();
  await part('node-name').fill('crate');
  await part('node-confirm').click();
  await page
    .locator('#node-name-said')
    .filter({ hasText: 'its name cannot change' })
    .waitFor();
  expect(await app.obstacles()).toEqual([]);
  await part('node-name').fill('box');
  await part('node-host').fill('localhost');
  await part('node-confirm').click();
  await page
    .locator('#node-host-said')
    .filter({ hasText: 'host, port and user' })
    .waitFor();
  await part('node-same-machine').check();
  await part('node-labels').fill('loopback, moved');
  await part('node-confirm').click();
  await part('node-dialog').waitFor({ state: 'detached' });
  await box().getByText('moved').waitFor();
  // Another name of the address: its key is not known by it.
  await box().getByTestId('node-check').click();
  await part('question-accept').click();
  await part('secret-0').fill(PASSPHRASE);
  await part('question-accept').click();
  await box().getByTestId('node-ready').waitFor();
  await box().getByTestId('node-state').filter({ hasText: 'connected' }).waitFor();
});

test('a run on both machines is stopped, and listed with them', async () => {
  await box().getByRole('link').click();
  await part('stop').click();
  await part('stop-confirm').click();
  await part('run-state')
    .filter({ hasText: /stopped/i })
    .waitFor();
  await app.go('Runs');
  await page
    .locator('tr')
    .getByTestId('run-machines')
    .filter({ hasText: 'this computer and box' })
    .waitFor();
});

test(
  'a run that somebody else started there is shown, and can be stopped',
  { tags: 'soak' },
  async () => {
    await using other = new GradwireHome();
    const host = ['--host', '127.0.0.1', '--port', String(machine.port)];
    const add = ['nodes', 'add', 'box', ...host, '--identity', machine.key];
    succeeded(await other.run(add));
    const launched = await other.run([
      ...['run', 'quickstart', '--detach', '--accept-host-key', machine.fingerprint()],
      ...['--set', 'world.nodes=[box]', '--set', 'world.ranks=1'],
      ...['--set', 'iterations=1000000', '--set', 'evaluateEvery=0'],
    ]);
    const id = launched.stdout.trim();
    expect(id).not.toBe('');
    await app.go('Cluster');
    await box().getByTestId('node-check').click();
    const found = box().getByTestId('node-found');
    await found.filter({ hasText: id }).waitFor();
    expect(await found.innerText()).toContain('1 rank, ');
    expect(await found.innerText()).toContain('started elsewhere');
    expect(await app.obstacles()).toEqual([]);
    await found.getByTestId('stop-found').click();
    await part('stop-found-confirm').click();
    await found.waitFor({ state: 'detached' });
    // So that the machine keeps nothing that nobody has stored.
    succeeded(await other.run(['runs', 'attach', id]));
  },
);

test('the passphrase that was typed is seen nowhere', () => {
  expect(processesWith(PASSPHRASE)).toEqual([]);
  for (const directory of [home.directory, machine.home]) {
    expect(filesWith(directory, PASSPHRASE)).toEqual([]);
  }
  // The search finds what is there.
  expect(processesWith(home.directory)).not.toEqual([]);
  expect(filesWith(home.directory, machine.hostKey())).not.toEqual([]);
});

test('nothing is left when it is uninstalled', async () => {
  await app.go('Cluster');
  await box().getByTestId('node-menu').click();
  await part('node-uninstall').click();
  await part('uninstall-confirm').click();
  await until(
    () => existsSync(path.join(machine.home, '.gradwire')),
    (there) => !there,
    'the agent to be removed',
  );
  await box().getByTestId('node-check').waitFor();
  expect(await box().getByTestId('node-error').count()).toBe(0);
  await box().getByTestId('node-menu').click();
  await part('node-remove').click();
  await part('remove-confirm').click();
  await box().waitFor({ state: 'detached' });
  expect(app.errors).toEqual([]);
});

/** Of the page, where functions of `waitForFunction` run. */
declare const document: {
  readonly activeElement: { readonly id: string } | null;
  querySelector(selector: string): object | null;
};
