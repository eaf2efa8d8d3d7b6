/**
 * The app as a stranger meets it: `gradwire serve`, a real Chromium, one click. What is
 * asserted is read from the page: its texts and the charts' table twins.
 */
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../harness/browser.ts';
import { GradwireHome } from '../harness/gradwire.ts';
import { untilAsync } from '../harness/processes.ts';
import { openServer, type Server } from '../harness/server.ts';

let browser: Browser;
let home: GradwireHome;
let server: Server;
let page: Page;
const pageErrors: string[] = [];

beforeAll(async () => {
  browser = await launchChromium();
  home = new GradwireHome();
  server = await openServer(home);
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  page = await context.newPage();
  page.on('pageerror', (error) => pageErrors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') pageErrors.push(message.text());
  });
  await page.goto(server.url);
});

afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const text = async (testId: string): Promise<string> =>
  (await page.getByTestId(testId).innerText()).trim();

const iterationShown = async (): Promise<number> =>
  Number((await text('live-iteration')).replaceAll(/\D/g, ''));

interface BarRow {
  readonly from: number;
  readonly to: number;
  readonly cells: Readonly<Record<string, string>>;
}

/** The rows of a chart's table twin, by column title. */
async function tableOf(chart: string): Promise<readonly BarRow[]> {
  const table = page.getByTestId(`${chart}-table`);
  if ((await table.count()) === 0)
    await page.getByTestId(`${chart}-table-toggle`).click();
  await table.waitFor();
  const rows = await table.evaluate((element) =>
    [...element.querySelectorAll('tr')].map((row) =>
      [...row.children].map((cell) => cell.textContent.trim()),
    ),
  );
  const [columns, ...body] = rows as [string[], ...string[][]];
  return body.map((cells) => {
    const bounds = cells[0]!
      .split('–')
      .map((part) => Number(part.replaceAll(/\D/g, '')));
    return {
      from: bounds[0]!,
      to: bounds.at(-1)!,
      cells: Object.fromEntries(columns.map((column, i) => [column, cells[i]!])),
    };
  });
}

async function expectAccessible(): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const serious = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  expect(serious).toEqual([]);
}

describe('the quickstart, from click to switched bars', () => {
  it('offers itself on the first screen', async () => {
    await page.getByTestId('try-button').waitFor();
    expect(await text('try-button')).toBe('Try on this computer');
    await expectAccessible();
  });

  it('trains four workers after one click', async () => {
    await page.getByTestId('try-button').click();
    await untilAsync(iterationShown, (seen) => seen > 0, 'the first iteration');
    await untilAsync(iterationShown, (seen) => seen >= 60, 'sixty iterations');
    for (const rank of [0, 1, 2, 3]) {
      expect(await page.getByTestId(`rank-${rank}`).count()).toBe(1);
    }
  });

  it('shows bars whose phases add up, and dense traffic as dense', async () => {
    const rows = await tableOf('phase');
    expect(rows.length).toBeGreaterThan(10);
    for (const { cells } of rows) {
      const phases = Object.entries(cells)
        .filter(([column]) => !/^(iteration|wall|overlapped)/.test(column))
        .reduce((sum, [, value]) => sum + Number(value), 0);
      // What the table shows is rounded.
      expect(phases / Number(cells['wall ms'])).toBeCloseTo(1, 2);
      expect(Number(cells['compute ms'])).toBeGreaterThan(0);
    }
    expect(await text('dense-bytes')).toMatch(/^797 kB/);
    expect(await text('wire-bytes')).toMatch(/^1\.\d+ MB/);
    expect(await text('verdict')).toMatch(/\d+ %/);
    expect(Number(/[\d.]+/.exec(await text('loss'))?.[0])).toBeGreaterThan(0);
    expect(await text('accuracy')).toMatch(/%/);
    await expectAccessible();
  });

  it('refuses an invalid switch with its reason, and the run goes on', async () => {
    await page.getByTestId('switch-method').selectOption('topk');
    const ratio = page.getByTestId('switch-parameter-ratio');
    await ratio.fill('7');
    await page.getByTestId('switch-apply').click();
    await page.getByTestId('switch-error').waitFor();
    expect(await text('switch-error')).toMatch(/ratio/);
    const before = await iterationShown();
    await untilAsync(iterationShown, (seen) => seen > before, 'the run to go on');
    expect(await text('current-plan')).toContain('none');
  });

  it('switches to topk at a marked iteration, and the bars and bytes change', async () => {
    await page.getByTestId('invite-topk').click();
    const status = await untilAsync(
      () => text('switch-status'),
      (seen) => /took effect at iteration/i.test(seen),
      'the switch to take effect',
    );
    const fence = Number(
      /iteration\s+([\d\s,.]+)/i.exec(status)![1]!.replaceAll(/\D/g, ''),
    );
    expect(await text('current-plan')).toContain('topk');
    await untilAsync(iterationShown, (seen) => seen > fence + 60, 'bars after');
    const bytes = await tableOf('bytes');
    const sent = (row: BarRow): number => {
      const column = Object.keys(row.cells).find((title) => /wire|sent/i.test(title))!;
      return Number(row.cells[column]!.replaceAll(/[^\d.]/g, ''));
    };
    const before = bytes.filter(({ to }) => to < fence);
    const after = bytes.filter(({ from }) => from > fence);
    expect(before.length).toBeGreaterThan(0);
    expect(after.length).toBeGreaterThan(0);
    expect(Math.max(...after.map(sent))).toBeLessThan(
      Math.min(...before.map(sent)) / 10,
    );
    expect(await text('density')).toMatch(/1(\.0\d*)? %/);
    expect(await text('events')).toMatch(/topk/);
  });

  it('switches back', async () => {
    await page.getByTestId('switch-back').click();
    await untilAsync(
      () => text('current-plan'),
      (seen) => seen.includes('none'),
      'the plan to be dense again',
    );
  });

  it('stops when asked, after saying what is lost, and lists the run', async () => {
    await page.getByTestId('stop').click();
    await page.getByTestId('stop-dialog').waitFor();
    await page.getByTestId('stop-confirm').click();
    await untilAsync(
      () => text('run-state'),
      (seen) => /stopped/i.test(seen),
      'the run to stop',
    );
    await page.goto(`${new URL(page.url()).origin}/#/runs`);
    const table = page.getByTestId('runs-table');
    await table.waitFor();
    expect(await table.innerText()).toMatch(/Quickstart/);
    await expectAccessible();
  });

  it('makes an experiment from a form and from YAML, both ways', async () => {
    await page.goto(`${new URL(page.url()).origin}/#/new`);
    const yaml = page.getByTestId('spec-yaml');
    await yaml.waitFor();
    const value = (): Promise<string> => yaml.inputValue();
    await untilAsync(value, (seen) => seen.includes('fnn3'), 'the YAML');
    await expectAccessible();
    await yaml.fill(
      (await value())
        .replace(/iterations: \d+/, 'iterations: 25')
        .replace(/^name:.*$/m, 'name: from-yaml'),
    );
    const iterations = page.getByTestId('field-iterations');
    await untilAsync(
      () => iterations.inputValue(),
      (seen) => seen === '25',
      'the form to follow the YAML',
    );
    await iterations.fill('30');
    await iterations.blur();
    await untilAsync(
      value,
      (seen) => seen.includes('iterations: 30'),
      'the YAML to follow',
    );
    await page.getByTestId('launch').click();
    await untilAsync(
      () => text('run-state'),
      (seen) => /completed/i.test(seen),
      'the run to complete',
    );
    expect(await iterationShown()).toBe(30);
  });

  it('never had an error in the page', () => {
    expect(pageErrors).toEqual([]);
  });
});
