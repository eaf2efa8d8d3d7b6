/** A script of one's own, chosen in the form: its command and its working directory. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryDirectory } from '../../src/disk/temporary-directory.ts';
import { AppPage } from '../harness/app-page.ts';

const me = temporaryDirectory('gradwire-me-');
const project = path.join(me, 'my project');
let app: AppPage;

beforeAll(async () => {
  mkdirSync(path.join(project, 'training'), { recursive: true });
  mkdirSync(path.join(me, 'papers'));
  for (const name of ['evaluate.py', 'train.py', 'notes.txt', 'training/gan.py']) {
    writeFileSync(path.join(project, name), '');
  }
  app = await AppPage.open({ environment: { HOME: me } });
  await app.go('New experiment');
  await app.part('field-workload.model').selectOption('program');
});

afterAll(async () => {
  await app?.[Symbol.asyncDispose]();
  rmSync(me, { recursive: true });
});

const filter = (): Locator => app.part('script-filter');
const entries = (): Locator => app.part('script-entries').getByRole('option');
const command = (): Locator => app.part('field-workload.command');
const workdir = (): Locator => app.part('field-workload.workdir');

async function browse(): Promise<void> {
  await app.part('browse-script').click();
  await entries().first().waitFor();
}

/** Waits until the dialog shows these. */
async function shows(...names: string[]): Promise<void> {
  await entries().nth(names.length).waitFor({ state: 'detached' });
  for (const [index, name] of names.entries()) {
    await entries().nth(index).filter({ hasText: name }).waitFor();
  }
}

test('is found from the home by keyboard alone', async () => {
  await browse();
  await shows('my project', 'papers');
  expect(await app.obstacles()).toEqual([]);
  await filter().press('p');
  await filter().press('r');
  await shows('my project');
  await filter().press('Enter');
  await shows('evaluate.py', 'train.py', 'training');
  expect(await filter().inputValue()).toBe('');
  await filter().press('ArrowDown');
  const next = await entries().nth(1).getAttribute('id');
  expect(await filter().getAttribute('aria-activedescendant')).toBe(next);
  await filter().press('Enter');
  await app.part('script-dialog').waitFor({ state: 'detached' });
  expect(await command().inputValue()).toBe('python3 train.py');
  expect(await workdir().inputValue()).toBe(project);
  await app.part('spec-yaml').and(app.page.locator('[aria-invalid=false]')).waitFor();
  const yaml = await app.part('spec-yaml').inputValue();
  expect(yaml).toContain('command: python3 train.py');
  expect(yaml).toContain(`workdir: ${project}`);
});

test('another one below the directory leaves that and the arguments as they are', async () => {
  await command().fill('python3 train.py --epochs 3');
  await browse();
  await shows('evaluate.py', 'train.py', 'training');
  await entries().filter({ hasText: 'training' }).click();
  await shows('gan.py');
  await entries().first().click();
  expect(await command().inputValue()).toBe('python3 training/gan.py --epochs 3');
  expect(await workdir().inputValue()).toBe(project);
});

test('the way up: by the path above the list, and by the key that deletes', async () => {
  await browse();
  await app
    .part('script-places')
    .getByRole('button', { name: path.basename(me), exact: true })
    .click();
  await shows('my project', 'papers');
  await entries().filter({ hasText: 'papers' }).click();
  await app
    .part('script-status')
    .filter({ hasText: 'No folder and no Python' })
    .waitFor();
  await filter().press('Backspace');
  await shows('my project', 'papers');
  await app.page.keyboard.press('Escape');
  await app.part('script-dialog').waitFor({ state: 'detached' });
  expect(await command().inputValue()).toBe('python3 training/gan.py --epochs 3');
});

test('a directory that is not there is named, and the home is a way out', async () => {
  await workdir().fill('nowhere');
  await app.part('browse-script').click();
  const error = app.part('script-dialog-error');
  await error.filter({ hasText: path.join(me, 'nowhere') }).waitFor();
  expect(await error.getAttribute('data-code')).toBe('WORKDIR_MISSING');
  expect(await app.obstacles()).toEqual([]);
  await app.part('script-home').click();
  await shows('my project', 'papers');
  await entries().filter({ hasText: 'my project' }).click();
  await entries().filter({ hasText: 'evaluate.py' }).click();
  expect(await command().inputValue()).toBe('python3 evaluate.py --epochs 3');
  expect(await workdir().inputValue()).toBe(project);
  expect(app.errors).toEqual([]);
});
