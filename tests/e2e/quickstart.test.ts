/**
 * The app as a stranger meets it: `gradwire serve`, a real Chromium, one click. What is
 * asserted is read from the page: its texts and the charts' table twins.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { IterationRecord } from '../../src/shared/records/iteration.ts';
import type { Verdict } from '../../src/shared/verdict/verdict.ts';
import { capitalized } from '../../src/shared/words/capitalized.ts';
import { AppPage } from '../harness/app-page.ts';
import type { GradwireHome } from '../harness/gradwire.ts';
import { LASTING } from '../harness/lasting-runs.ts';
import { untilAsync } from '../harness/processes.ts';

let app: AppPage;
let home: GradwireHome;
let page: Page;

beforeAll(async () => {
  app = await AppPage.open();
  ({ home, page } = app);
});

afterAll(async () => {
  await app?.[Symbol.asyncDispose]();
});

const text = async (testId: string): Promise<string> =>
  (await page.getByTestId(testId).innerText()).trim();

const iterationShown = async (): Promise<number> =>
  Number((await text('live-iteration')).replaceAll(/\D/g, ''));

/** Until that part of the page has a text like this: which it is. */
async function untilShown(testId: string, pattern: RegExp): Promise<string> {
  const part = page.getByTestId(testId).filter({ hasText: pattern });
  await orTheWholePage(part.waitFor(), `${testId} like ${pattern}`);
  return (await part.innerText()).trim();
}

/** Of the page, where the function below runs. */
declare const document: {
  querySelector(selector: string): { readonly textContent: string } | null;
};
declare const requestAnimationFrame: (callback: () => void) => void;

async function untilIteration(least: number): Promise<void> {
  const shown = page.waitForFunction(
    (from) => {
      const shown = document.querySelector('[data-testid=live-iteration]')?.textContent;
      return Number(shown?.replaceAll(/\D/g, '')) >= from;
    },
    least,
    // Not with every frame: each look makes the page lay itself out.
    { polling: 100 },
  );
  await orTheWholePage(shown, `iteration ${least}`);
}

/** Waits for what is to be shown; fails with the runs as they are stored, and all that is shown in its place. */
async function orTheWholePage(shown: Promise<unknown>, what: string): Promise<void> {
  try {
    await shown;
  } catch (cause) {
    const { stdout: stored } = await home.run(['runs', 'list']);
    const [frame, body] = await Promise.all([
      answered(page.evaluate(nextFrame), 'gets no frames'),
      answered(page.innerText('body'), 'does not answer'),
    ]);
    throw new Error(
      `${what} was not shown. Stored:\n${stored}The page ${frame}:\n${body}`,
      { cause },
    );
  }
}

/** Runs in the page. */
const nextFrame = (): Promise<string> =>
  new Promise((resolve) =>
    requestAnimationFrame(() => {
      resolve('is drawn');
    }),
  );

const answered = (value: Promise<string>, otherwise: string): Promise<string> =>
  Promise.race([value, pause(5000).then(() => otherwise)]);

/** While the workers rest: what is looked at stays as it is, and costs no training. */
async function paused(look: () => Promise<void>): Promise<void> {
  const workers = home.processes('gradwire worker').map(({ pid }) => pid);
  for (const pid of workers) process.kill(pid, 'SIGSTOP');
  try {
    await look();
  } finally {
    for (const pid of workers) process.kill(pid, 'SIGCONT');
  }
}

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

/** In milliseconds, as shown. */
const sumOfPhases = (cells: BarRow['cells']): number =>
  Object.entries(cells)
    .filter(([column]) => !/^(iteration|wall|overlapped)/.test(column))
    .reduce((sum, [, value]) => sum + Number(value), 0);

const goTo = async (hash: string): Promise<void> => {
  await page.goto(`${new URL(page.url()).origin}/#/${hash}`);
};

it('offers a tour of three steps once, and the help has it again', async () => {
  await page.getByTestId('tour-begin').press('Enter');
  for (const step of ['1', '2', '3']) {
    await untilShown('tour-step', new RegExp(`Step ${step} of 3`));
    await page.getByTestId(step === '3' ? 'tour-done' : 'tour-next').press('Enter');
  }
  await page.reload();
  await page.getByTestId('try-button').waitFor();
  expect(await page.getByTestId('tour-offer').count()).toBe(0);
  await page.keyboard.press('Control+/');
  await page.getByTestId('show-tour').click();
  await untilShown('tour-step', /Step 1/);
  await page.keyboard.press('Escape');
  await page.getByTestId('tour').waitFor({ state: 'detached' });
});

describe('the quickstart, after one click', () => {
  it('offers itself on the first screen', async () => {
    await page.getByTestId('try-button').waitFor();
    expect(await text('try-button')).toBe('Try on this computer');
    const network = page.getByTestId('try-network').locator('option:checked');
    expect(await network.innerText()).toBe('1 Gbit/s (emulated)');
    expect(await app.obstacles()).toEqual([]);
  });

  it('trains four workers', async () => {
    await page.getByTestId('try-button').click();
    await untilIteration(1);
    for (const rank of [0, 1, 2, 3]) {
      await page.getByTestId(`rank-${rank}`).waitFor();
    }
    expect(await page.getByTestId('rank-4').count()).toBe(0);
  });

  it('says that the network is emulated', async () => {
    expect(await text('run-network')).toBe('network emulated 1 Gbit/s, 50 µs');
  });

  it('stops when asked, after saying what is lost, and is listed', async () => {
    await page.getByTestId('stop').click();
    await page.getByTestId('stop-dialog').waitFor();
    await page.getByTestId('stop-confirm').click();
    await untilShown('run-state', /stopped/i);
    await goTo('runs');
    await untilShown('runs-table', /Quickstart/);
    expect(await app.obstacles()).toEqual([]);
  });
});

describe('an experiment', () => {
  it('is made from a form and from YAML, both ways, and runs to its end', async () => {
    await goTo('new');
    const yaml = page.getByTestId('spec-yaml');
    await yaml.waitFor();
    const value = (): Promise<string> => yaml.inputValue();
    await untilAsync(value, (seen) => seen.includes('fnn3'), 'the YAML');
    expect(await app.obstacles()).toEqual([]);
    await yaml.fill(
      (await value())
        .replace(/iterations: \d+/, 'iterations: 25')
        .replace(/ranks: \d+/, 'ranks: 1')
        .replace(/^name:.*$/m, 'name: from-yaml'),
    );
    const iterations = page.getByTestId('field-iterations');
    await untilAsync(
      () => iterations.inputValue(),
      (seen) => seen === '25',
      'the form to follow the YAML',
    );
    await iterations.fill('29');
    await iterations.blur();
    await untilAsync(
      value,
      (seen) => seen.includes('iterations: 29'),
      'the YAML to follow',
    );
    await iterations.fill('none');
    await iterations.press('Control+Enter');
    await untilShown('spec-error', /iterations/);
    // Launched from within the field, before its YAML follows: what the field shows counts.
    await iterations.fill('30');
    await iterations.press('Control+Enter');
    await untilShown('run-state', /completed/i);
    expect(await iterationShown()).toBe(30);
    expect(await page.getByTestId('rank-1').count()).toBe(0);
  });
});

describe('a run that the command line started, as it goes on', () => {
  const RANKS = 2;
  let id: string;
  beforeAll(async () => {
    const settings = [
      ...[`world.ranks=${RANKS}`, ...LASTING, 'evaluateEvery=10'],
      // It is paused in between.
      'timeoutSeconds=3600',
    ];
    const { stdout } = await home.run([
      ...['run', 'quickstart', '--detach'],
      ...settings.flatMap((setting) => ['--set', setting]),
    ]);
    id = stdout.trim();
    await goTo(`run/${id}`);
    // The run before it has one rank.
    await page.getByTestId('rank-1').waitFor();
    await untilIteration(12);
  });

  /** Its records as they are stored. */
  async function stored(): Promise<readonly IterationRecord[]> {
    const { stdout } = await home.run(['runs', 'export', id]);
    return (JSON.parse(stdout) as { iterations: IterationRecord[] }).iterations;
  }

  it('shows phases that add up to the wall time of each iteration', async () => {
    await paused(async () => {
      await page.getByTestId('phase-rank').selectOption('1');
      await untilShown('phase-summary', /^Rank 1, one bar per iteration/);
      const ofRank = await tableOf('phase');
      const records = await stored();
      expect(ofRank.length).toBeGreaterThan(5);
      for (const { from, to, cells } of ofRank) {
        expect(to).toBe(from);
        const wall = Number(cells['wall ms']);
        // What the table shows is rounded: ten phases and their sum.
        expect(Math.abs(sumOfPhases(cells) - wall)).toBeLessThan(11 * 0.0005 + 1e-6);
        expect(Number(cells['compute ms'])).toBeGreaterThan(0);
        const record = records.find(
          ({ rank, iteration }) => rank === 1 && iteration === from,
        );
        expect(Math.abs(wall - record!.wall)).toBeLessThan(0.0005 + 1e-6);
      }
      await page.getByTestId('phase-rank').selectOption('');
      await untilShown('phase-summary', /^Mean over all ranks/);
      for (const { cells } of await tableOf('phase')) {
        expect(Math.abs(sumOfPhases(cells) - Number(cells['wall ms']))).toBeLessThan(
          11 * 0.0005 + 1e-6,
        );
      }
    });
  });

  it('shows dense traffic as dense, with a verdict', async () => {
    await paused(async () => {
      await untilShown('verdict', /\d+\s%/);
      const bound = page.getByTestId('verdict').getByRole('button').first();
      await bound.click();
      await untilShown('verdict-proof', /the step.*records/s);
      await bound.click();
      expect(await text('dense-bytes')).toMatch(/^797 kB/);
      // Two ranks exchange all of it once.
      expect(await text('wire-bytes')).toMatch(/^(79|80)\d(\.\d)? kB/);
      expect(Number(/[\d.]+/.exec(await text('loss'))?.[0])).toBeGreaterThan(0);
      expect(await text('accuracy')).toMatch(/%/);
      expect(await app.obstacles()).toEqual([]);
    });
  });

  it('foresees the switch that it suggests', async () => {
    await untilShown('invite-predicted', /A step would take about .* instead of/);
  });

  it('refuses an invalid switch with its reason, and the run goes on', async () => {
    await page.getByTestId('switch-method').selectOption('topk');
    const ratio = page.getByTestId('switch-parameter-ratio');
    await ratio.fill('7');
    await page.getByTestId('switch-apply').click();
    await untilShown('switch-error', /ratio/);
    await untilIteration((await iterationShown()) + 1);
    expect(await text('current-plan')).toContain('none');
    // A valid one is foreseen before it is made.
    await ratio.fill('0.01');
    await ratio.press('Tab');
    await untilShown('switch-predicted', /A step would take about .* instead of/);
  });

  it('switches to topk at a marked iteration, and the bars and bytes change', async () => {
    await page.getByTestId('invite-topk').click();
    const status = await untilShown('switch-status', /took effect at iteration/i);
    const fence = Number(
      /iteration\s+([\d\s,.]+)/i.exec(status)![1]!.replaceAll(/\D/g, ''),
    );
    expect(await text('current-plan')).toContain('topk');
    await untilIteration(fence + 20);
    await paused(async () => {
      await untilShown('density', /1(\.0\d*)? %/);
      expect(await text('events')).toMatch(/topk/);
      const bytes = await tableOf('bytes');
      const sent = ({ cells }: BarRow): number => Number(cells['wire sent B']);
      const before = bytes.filter(({ to }) => to < fence);
      const after = bytes.filter(({ from }) => from > fence);
      expect(before.length).toBeGreaterThan(0);
      expect(after.length).toBeGreaterThan(0);
      expect(Math.max(...after.map(sent))).toBeLessThan(
        Math.min(...before.map(sent)) / 10,
      );
      // Every rank took it up there, says the store.
      for (const { iteration, method } of await stored()) {
        expect([iteration, method]).toEqual([
          iteration,
          iteration < fence ? 'none' : 'topk',
        ]);
      }
    });
  });

  it('switches back', async () => {
    await page.getByTestId('switch-back').click();
    await untilShown('current-plan', /none/);
  });

  it(
    'switches to servers, whose number it asks for, and away',
    { tags: 'soak' },
    async () => {
      const collective = page.getByTestId('switch-collective');
      const servers = page.getByTestId('switch-servers');
      expect(await servers.count()).toBe(0);
      await collective.selectOption('parameter-server');
      await servers.fill('3');
      await page.getByTestId('switch-apply').click();
      await untilShown('switch-error', /servers is 3, but only 2 ranks exchange/);
      await servers.fill('2');
      await page.getByTestId('switch-apply').click();
      await untilShown('current-plan', /^none over parameter-server with 2 servers$/);
      await collective.selectOption('ring');
      expect(await servers.count()).toBe(0);
      await page.getByTestId('switch-apply').click();
      await untilShown('current-plan', /^none over ring$/);
    },
  );
});

it('has the same verdict on the page of an ended run, after a reload and on the command line', async () => {
  await untilIteration((await iterationShown()) + 20);
  expect(await home.run(['runs', 'stop', 'last'])).toMatchObject({ code: 0 });
  await untilShown('run-state', /stopped/i);
  const { stdout } = await home.run(['runs', 'verdict', 'last', '--json']);
  const { statements } = JSON.parse(stdout) as Pick<Verdict, 'statements'>;
  const told = statements.map((statement) => `${capitalized(statement.text)}.`);
  expect(told.length).toBeGreaterThan(0);
  const shown = async (): Promise<readonly string[]> => {
    const sentences = page.getByTestId('verdict').getByRole('button');
    const texts = await sentences.allInnerTexts();
    return texts.map((sentence) => sentence.replaceAll('\u00a0', ' ').trim());
  };
  await expect.poll(shown).toEqual(told);
  await page.reload();
  await untilShown('run-state', /stopped/i);
  await expect.poll(shown).toEqual(told);
});

it('never had an error in the page', () => {
  expect(app.errors).toEqual([]);
});
