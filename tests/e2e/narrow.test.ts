/** The app on a screen of 420 pixels: nothing is cut off, and no page scrolls sideways. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reportHtml } from '../../src/export/report/document.ts';
import { AppPage } from '../harness/app-page.ts';
import { succeeded } from '../harness/gradwire.ts';
import { SshServer } from '../harness/sshd.ts';
import { fillHome } from './full-home.ts';

const WIDTH = 420;
const TABS = 5;

let app: AppPage;
let machine: SshServer;
let page: Page;

beforeAll(async () => {
  machine = await SshServer.start();
  app = await AppPage.open({ prepare: (home) => fillHome(home, machine) });
  ({ page } = app);
  await page.setViewportSize({ width: WIDTH, height: 860 });
});

afterAll(async () => {
  await app?.[Symbol.asyncDispose]();
  await machine?.[Symbol.asyncDispose]();
});

const part = (testId: string) => app.part(testId);

async function go(place: string, shown: Locator): Promise<void> {
  await page.evaluate((hash) => (location.hash = hash), `#/${place}`);
  await shown.first().waitFor();
}

/** Pixels of the document that are out of sight at the side. */
const hidden = (): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

/** Pixels of an element that are out of sight at the side. */
const cutOf = (element: Locator): Promise<number> =>
  element.evaluate(
    (box: { scrollWidth: number; clientWidth: number }) =>
      box.scrollWidth - box.clientWidth,
  );

test('no page is wider than the screen', async () => {
  for (const [place, shown] of [
    ['start', part('recent-runs')],
    ['new', part('field-world.nodes-box')],
    ['runs', part('runs-table')],
    ['cluster', part('node-box')],
    ['settings', part('settings-alerts')],
    ['figures', part('figure')],
    ['run/run', part('log-line')],
  ] as const) {
    await go(place, shown);
    // Regions hear of their widths in the next frame.
    await expect
      .poll(async () => [place, await hidden(), await cutOf(page.locator('main'))])
      .toEqual([place, 0, 0]);
  }
});

test('what stands beside the charts of a run is one press away', async () => {
  await go('run/run', part('jump'));
  expect(await part('jump').innerText()).toBe('Settings and events');
  const settings = part('run-settings');
  const top = async (): Promise<number> => (await settings.boundingBox())!.y;
  expect(await top()).toBeGreaterThan(860);
  await part('jump').click();
  await expect.poll(top).toBeLessThan(300);
  expect(await top()).toBeGreaterThanOrEqual(0);
  await page.keyboard.press('Tab');
  const isWithin = 'document.querySelector("aside").contains(document.activeElement)';
  expect(await page.evaluate(isWithin)).toBe(true);
  await expect.poll(hidden).toBe(0);
  expect(await app.obstacles()).toEqual([]);
  await page.setViewportSize({ width: 1440, height: 860 });
  expect(await part('jump').isVisible()).toBe(false);
  await page.setViewportSize({ width: WIDTH, height: 860 });
});

test('settings are those of the command, which both change', async () => {
  await page.setViewportSize({ width: 390, height: 860 });
  await go('settings', part('setting-alerts.long-wait.percent'));
  const get = async (key: string): Promise<string> =>
    succeeded(await app.home.run(['settings', 'get', key])).stdout.trim();
  const percent = part('setting-alerts.long-wait.percent');
  await percent.fill('35');
  await percent.press('Enter');
  await page.getByRole('button', { name: 'Wait in percent: back to 50' }).waitFor();
  expect(await get('alerts.long-wait.percent')).toBe('35');
  succeeded(await app.home.run(['settings', 'reset', 'alerts.long-wait.percent']));
  await expect.poll(() => percent.inputValue()).toBe('50');

  const webhook = part('setting-notify.webhook');
  await webhook.fill('ftp://example.org');
  await webhook.press('Enter');
  await page.getByText(/is no value: it must begin with https/).waitFor();
  expect(await get('notify.webhook')).toBe('(empty)');
  for (const theme of ['dark', 'light']) {
    await page.getByLabel('Theme', { exact: true }).selectOption(theme);
    await expect.poll(hidden).toBe(0);
    expect([theme, await app.obstacles()]).toEqual([theme, []]);
  }
  await page.setViewportSize({ width: WIDTH, height: 860 });
});

test('all that a run’s row says of it is in sight', async () => {
  await go('runs', part('runs-table'));
  expect(await part('runs-table').innerText()).toMatch(
    /Iterations\s+10\s+Loss\s+90.5000\s+97.0 %/,
  );
  const table = part('runs-table').locator('..');
  expect(await cutOf(table)).toBe(0);
  expect(await part('scroll-hint').count()).toBe(0);
  expect(await app.obstacles()).toEqual([]);
});

test('deleted runs are deleted for good only when that has been confirmed', async () => {
  await go('runs', part('runs-table'));
  await page.getByRole('button', { name: 'deleted', exact: true }).click();
  await part('history-space').waitFor();
  expect(await part('history-space').innerText()).toMatch(
    /1 deleted run with [\d.]+ kB of records; the history takes [\d.]+ kB/,
  );
  await expect.poll(hidden).toBe(0);
  expect(await app.obstacles()).toEqual([]);
  await part('purge').click();
  await part('purge-dialog').getByRole('button', { name: 'Keep them' }).click();
  expect(await part('runs-table').innerText()).toMatch(/sample/);
  // Another page of the same app.
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByRole('button', { name: 'deleted', exact: true }).click();
  await other.getByTestId('history-space').waitFor();
  await part('purge').click();
  await part('purge-confirm').click();
  await page.getByText('No deleted runs.').waitFor();
  await other.getByText('No deleted runs.').waitFor();
  await other.close();
  await page.getByText(/^Freed /).waitFor();
  await page.getByRole('button', { name: 'kept', exact: true }).click();
  await part('runs-table').waitFor();
  expect(await part('runs-table').innerText()).toMatch(/sample/);
});

test(
  'the events of a long run say how many the list lacks',
  { tags: 'soak' },
  async () => {
    await go('run/long', part('lacking-events'));
    expect(await part('lacking-events').innerText()).toMatch(
      /Only in the export: .*50\d measurements and notices of a long run\./,
    );
    await expect.poll(hidden).toBe(0);
    expect(await app.obstacles()).toEqual([]);
  },
);

test('events say near which iteration a rank was suspended, and that more are below', async () => {
  await go('run/stalls', part('events-region'));
  const first = part('events').locator('li').filter({ hasText: 'suspended:' }).last();
  // The iterations' times are read after the events.
  await first.filter({ hasText: /near iteration 0\b/ }).waitFor();
  await part('events')
    .filter({ hasText: /near iteration 88\b/ })
    .waitFor();
  await page.locator('.signs').getByText('rank suspended, silent or back').waitFor();
  const hint = page.getByText('Earlier events below');
  await hint.waitFor();
  const region = part('events-region');
  await region.evaluate((box: { scrollTop: number }) => (box.scrollTop = 1e6));
  await hint.waitFor({ state: 'detached' });
  await expect.poll(hidden).toBe(0);
  expect(await app.obstacles()).toEqual([]);
});

test('the log has its texts, and keeps its place when the screen turns', async () => {
  await go('run/run', part('log-line'));
  await part('log-goal').fill('5');
  await part('log-goal').press('Enter');
  const line = part('log-line').filter({ hasText: 'iteration 5, line 0' });
  await line.waitFor();
  expect((await line.locator('.text').boundingBox())!.width).toBeGreaterThan(WIDTH / 2);
  /** Pixels from the top of the list to the line, and its height. */
  const place = async (): Promise<readonly number[]> => {
    const list = (await part('log-lines').boundingBox())!;
    const { y, height } = (await line.boundingBox()) ?? { y: Infinity, height: 0 };
    return [Math.round((y - list.y) / 10), height];
  };
  const narrow = await place();
  expect(narrow).toEqual([0, 42]);
  await page.setViewportSize({ width: 860, height: WIDTH });
  await expect.poll(place).toEqual([0, 22]);
  await page.setViewportSize({ width: WIDTH, height: 860 });
  await expect.poll(place).toEqual(narrow);
});

test('questions of a connection are whole, and so is the form of a machine', async () => {
  await go('cluster', part('node-box'));
  for (const width of [WIDTH, 360]) {
    await page.setViewportSize({ width, height: 860 });
    await part('node-box').getByTestId('node-check').click();
    expect(await part('fingerprint').innerText()).toBe(machine.fingerprint());
    expect(await cutOf(part('question-dialog'))).toBe(0);
    const { x, width: wide } = (await part('question-accept').boundingBox())!;
    expect(x).toBeGreaterThan(0);
    expect(x + wide).toBeLessThan(width);
    await part('question-refuse').click();
    await part('question-dialog').waitFor({ state: 'detached' });
    await part('add-node').click();
    await part('node-slurm-login').check();
    expect(await cutOf(part('node-dialog'))).toBe(0);
    await page.keyboard.press('Escape');
    await part('node-dialog').waitFor({ state: 'detached' });
  }
  await part('node-box').getByTestId('node-check').click();
  await part('question-accept').click();
  await part('secret-0').waitFor();
  expect(await part('question-dialog').innerText()).toContain('kkkk');
  expect(await cutOf(part('question-dialog'))).toBe(0);
  await page.keyboard.press('Escape');
  await part('question-dialog').waitFor({ state: 'detached' });
  await page.setViewportSize({ width: WIDTH, height: 860 });
});

test('a machine’s address is on one line', async () => {
  const address = part('node-box').getByTestId('node-address');
  expect((await address.innerText()).trim()).toBe(`127.0.0.1:${machine.port}`);
  expect((await address.boundingBox())!.height).toBeLessThan(24);
});

test(
  'tabs of terminals scroll in their place, the current one in sight',
  { tags: 'soak' },
  async () => {
    await part('node-this-computer').getByTestId('node-terminal').click();
    for (let tab = 1; tab < TABS; tab++) await part('terminal-new').click();
    const current = part('terminal-tab').nth(TABS - 1);
    const isInSight = async () => {
      const { x, width } = (await current.boundingBox())!;
      return x >= 0 && x + width <= page.viewportSize()!.width;
    };
    await expect.poll(isInSight).toBe(true);
    await expect.poll(hidden).toBe(0);
    await page.setViewportSize({ width: 360, height: 860 });
    await expect.poll(isInSight).toBe(true);
    await expect.poll(hidden).toBe(0);
    for (let tab = 0; tab < TABS; tab++) await part('terminal-close').click();
    await part('terminals').waitFor({ state: 'detached' });
    expect(app.errors).toEqual([]);
  },
);

/** Of the page, where functions of `evaluate` run. */
declare const location: { hash: string };
declare const document: { readonly documentElement: { readonly scrollWidth: number } };
declare const window: { readonly innerWidth: number };

test('a run is drawn closer and moved, and saved as a file', async () => {
  const drawn = page.locator('[data-testid=phase-chart]:not([aria-valuemax="0"])');
  await go('run/run', drawn);
  await drawn.focus();
  await page.keyboard.press('-');
  await expect.poll(() => part('span-out').isDisabled()).toBe(true);
  await part('export').click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    part('export-jsonl').click(),
  ]);
  expect(download.suggestedFilename()).toBe('gradwire-run.jsonl');
  const saved = readFileSync(await download.path(), 'utf8');
  const { stdout } = await app.home.run(['runs', 'export', 'run', '--format', 'jsonl']);
  expect(saved).toBe(stdout);
  await part('export').click();
  const [table] = await Promise.all([
    page.waitForEvent('download'),
    part('export-parquet').click(),
  ]);
  const file = path.join(app.home.directory, 'run.parquet');
  await app.home.run([
    ...['runs', 'export', 'run', '--format', 'parquet', '--out', file],
  ]);
  // The page makes it, and the command: the same bytes.
  expect(readFileSync(await table.path())).toEqual(readFileSync(file));
  await part('export').click();
  const [report] = await Promise.all([
    page.waitForEvent('download'),
    part('export-report').click(),
  ]);
  const html = readFileSync(await report.path(), 'utf8');
  const written = await app.home.run(['runs', 'report', 'run']);
  const numbers = (text: string): string => text.replace(/<footer.*/, '');
  expect(numbers(html)).toBe(numbers(written.stdout));
  // Whoever gets it opens it without a network, whatever the run is called.
  const hostile = path.join(app.home.directory, 'report.html');
  const name = '<script>document.title = 1</script><img src=//x onerror=alert(1)>';
  writeFileSync(
    hostile,
    reportHtml({ title: name, about: name, sections: [], made: name }) +
      html.replace('<main>', `<main>${name}`),
  );
  const reader = await page.context().newPage();
  const loaded: string[] = [];
  // The policy of the file ends all other requests before they are sent.
  reader.on('requestfinished', (request) => loaded.push(request.url()));
  reader.on('dialog', (dialog) => loaded.push(dialog.message()));
  await reader.goto(pathToFileURL(hostile).href);
  expect(await reader.title()).toBe(`${name} – Gradwire`);
  expect(await reader.locator('figure svg').count()).toBeGreaterThan(0);
  expect(loaded).toEqual([pathToFileURL(hostile).href]);
  await reader.close();
  // That of the purge above may still be there.
  const others = part('toast').filter({ hasNotText: 'Freed' });
  expect(await others.allInnerTexts()).toEqual([]);
});

test(
  'all charts of a run are zoomed, moved and pinned with keys alone, in step',
  { tags: 'soak' },
  async () => {
    const drawn = page.locator('[data-testid=phase-chart][aria-valuemax="99"]');
    await go('run/many', drawn);
    const range = part('view-range');
    await drawn.focus();
    await page.keyboard.press('Home');
    for (const key of ['w', 'w', 'w', 'd']) await page.keyboard.press(key);
    // Three quarters thrice, from the first iteration on; then a fifth of that later.
    await range.filter({ hasText: 'iterations 8–50 of 100' }).waitFor();
    await part('bytes-table-toggle').click();
    await part('axis-kind').selectOption('bytes');
    const rows = part('bytes-table').locator('tbody tr');
    await expect.poll(() => rows.first().innerText()).toMatch(/^8\s+850\s+100/);
    await expect.poll(() => rows.last().innerText()).toMatch(/^50\s+5050\s+100/);
    await part('phase-chart').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await part('pinned').filter({ hasText: 'Iteration 50' }).waitFor();
    const ranks = part('pinned-table').locator('tbody tr');
    await expect.poll(() => ranks.count()).toBe(2);
    expect(await app.obstacles()).toEqual([]);
    await part('pinned-excess')
      .filter({ hasText: /iterations around it/ })
      .waitFor();
    // The first Escape unpins, also from within the panel; the others go back.
    await part('unpin').focus();
    await page.keyboard.press('Escape');
    await part('pinned').waitFor({ state: 'detached' });
    await range.filter({ hasText: 'iterations 8–50 of 100' }).waitFor();
    await part('phase-chart').focus();
    await page.keyboard.press('Enter');
    await part('pinned').waitFor();
    await page.keyboard.press('Escape');
    await part('pinned').waitFor({ state: 'detached' });
    for (let count = 0; count < 4; count++) await page.keyboard.press('Escape');
    await range.filter({ hasText: 'iterations 0–99 of 100' }).waitFor();
  },
);
