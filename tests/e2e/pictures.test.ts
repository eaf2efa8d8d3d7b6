/** Every view in both themes, by its pictures: what one theme shows, the other shows as well. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openHome, resolveHome } from '../../src/main/home/home.ts';
import { RunStore } from '../../src/main/store/run-store.ts';
import { figures } from '../../src/reproduce/figures/registry.ts';
import { sumPhases, zeroPhases, type Phase } from '../../src/shared/records/phases.ts';
import type { RunRecord } from '../../src/shared/records/record-kinds.ts';
import { AppPage } from '../harness/app-page.ts';
import { soaking } from '../harness/effort.ts';
import { succeeded, type GradwireHome } from '../harness/gradwire.ts';
import { obstacles } from '../harness/page.ts';
import { blocksOf, lostIn, type Blocks } from '../harness/picture.ts';
import {
  done,
  entries,
  iterationRecord,
  sampleSpec,
  started,
} from '../unit/main/sample-records.ts';
import { MEASURED, storeMeasuredRun } from './measured-run.ts';
import { madeUp } from '../unit/reproduce/made-up-result.ts';

let app: AppPage;
let page: Page;
let blank: Page;
/** Ids of two runs that have ended, and of their sweep. */
let runs: readonly string[];
let sweep: string;

beforeAll(async () => {
  app = await AppPage.open({ prepare });
  ({ page } = app);
  blank = await page.context().newPage();
  await page.bringToFront();
});
afterAll(() => app?.[Symbol.asyncDispose]());

async function prepare(home: GradwireHome): Promise<void> {
  await storeRun(home);
  const reproduced = path.join(home.directory, 'reproduced');
  mkdirSync(reproduced);
  for (const figure of figures) {
    const file = path.join(reproduced, `${figure.id}.json`);
    writeFileSync(file, JSON.stringify(madeUp(figure)));
  }
  if (!soaking) return;
  const short = ['--set', 'iterations=40', '--set', 'world.ranks=2'];
  succeeded(
    await home.run([
      'sweep',
      'quickstart',
      '--vary',
      'exchange.method=none,topk',
      ...short,
    ]),
  );
  const idsOf = async (list: string): Promise<string[]> =>
    succeeded(await home.run([list, 'list', '--json']))
      .stdout.trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id);
  runs = await idsOf('runs');
  [sweep] = (await idsOf('sweeps')) as [string];
}

/** A run whose iterations have every phase, longest in turn, and two that were compared. */
async function storeRun(home: GradwireHome): Promise<void> {
  const { database } = await openHome(resolveHome({ GRADWIRE_HOME: home.directory }));
  const store = RunStore.open(database);
  const phases = Object.keys(zeroPhases()) as Phase[];
  const times = (iteration: number, rank: number): Record<Phase, number> =>
    Object.fromEntries(
      phases.map((phase, at) => [
        phase,
        1 + ((7 * iteration + 3 * at + rank) % 11) / 2,
      ]),
    ) as Record<Phase, number>;
  const records: RunRecord[] = [started];
  for (let iteration = 0; iteration < 40; iteration++) {
    for (const rank of [0, 1]) {
      const own = times(iteration, rank);
      records.push({
        ...iterationRecord(iteration, rank),
        phases: own,
        wall: sumPhases(own),
      });
    }
    if (iteration % 20 !== 0) continue;
    const normal = { zeros: 10, first: -12, negative: [1, 4, 9], positive: [2, 5, 8] };
    const applied = { zeros: 30, first: -10, negative: [4], positive: [5] };
    const at = started.at + iteration;
    records.push({ type: 'comparison', at, iteration, uncompressed: normal, applied });
  }
  store.create({ id: 'drawn', spec: sampleSpec(), switches: [], createdAt: 1 });
  store.records.append('drawn', entries([...records, done]));
  storeMeasuredRun(store);
  store.close();
}

/** Lengthens the first sentence of a verdict that has room for it: the others move on, one to the last line. */
const LENGTHEN = `(async () => {
  const verdict = document.querySelector('[data-testid=verdict]');
  const frame = () => new Promise(requestAnimationFrame);
  verdict.parentElement.style.minHeight = '12rem';
  verdict.querySelector('.basis').remove();
  for (let frames = 0; frames < 3; frames++) await frame();
  const isText = ({ data, nodeType }) => nodeType === 3 && data.trim() !== '';
  const text = [...verdict.querySelector('button').childNodes].find(isText);
  text.data += 'of the step, and much more than any other part of it takes ';
  for (let frames = 0; frames < 3; frames++) await frame();
})()`;

/** Places, each with what is there once it is drawn. */
const PLACES: readonly (readonly [name: string, place: () => string, drawn: string])[] =
  [
    ['start', () => 'start', 'recent-runs'],
    ['new experiment', () => 'new', 'launch'],
    ['runs', () => 'runs', 'runs-table'],
    // Measured times would draw another picture each time.
    ['run', () => 'run/drawn', 'phase-chart'],
    ['comparison', () => `compare/${runs.join(',')}`, 'comparison-verdict'],
    ['sweep', () => `sweeps/${sweep}`, 'sweep-results'],
    ['plan', () => 'plan', 'plan-verdict'],
    ['figures', () => 'figures', 'figure'],
    ['cluster', () => 'cluster', 'node-this-computer'],
    ['settings', () => 'settings', 'settings-alerts'],
  ];

async function pictures(): Promise<Record<'dark' | 'light', Blocks>> {
  const of = async (colorScheme: 'dark' | 'light'): Promise<Blocks> => {
    await page.emulateMedia({ colorScheme });
    return await blocksOf(blank, await page.screenshot({ animations: 'disabled' }));
  };
  return { light: await of('light'), dark: await of('dark') };
}

async function open(place: string, drawn: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`);
  await app.part(drawn).first().waitFor();
  // Whatever it still asks for: charts are drawn with the answer.
  await page.waitForLoadState('networkidle');
}

/** Pictures of what has come to rest: two in a row are alike. */
async function atRest(): Promise<Record<'dark' | 'light', Blocks>> {
  let before = await pictures();
  for (;;) {
    const now = await pictures();
    if (JSON.stringify(now) === JSON.stringify(before)) return now;
    before = now;
  }
}

/** A place with charts on canvases; the others are like it, or of text, which axe sees, and wait for the soak. */
const DRAWN = new Set(['run']);

describe.each(PLACES)('%s', (name, place, drawn) => {
  test(
    'is to be seen in both themes',
    { tags: DRAWN.has(name) ? [] : ['soak'] },
    async () => {
      await page.setViewportSize({ width: 1440, height: 900 });
      await open(place(), drawn);
      const { dark, light } = await atRest();
      expect(dark.corner).not.toBe(light.corner);
      expect(light.contrasts.filter((contrast) => contrast > 3).length).toBeGreaterThan(
        200,
      );
      expect([lostIn(light, dark), lostIn(dark, light)]).toEqual([[], []]);
      expect(app.errors).toEqual([]);
    },
  );
});

test('the table of magnitudes has what is drawn, and every element once', async () => {
  await open('run/drawn', 'magnitudes-chart');
  await app.part('magnitudes-table-toggle').click();
  const rows = app.part('magnitudes-table').locator('tbody tr');
  const texts = await rows.allInnerTexts();
  const cells = texts.map((text) => text.split('\t').map((cell) => cell.trim()));
  // Of 39 elements each: 10 and 30 are 0.
  expect(cells[0]!.slice(0, 4)).toEqual(['0', '0', '25.6 %', '76.9 %']);
  expect(cells).toHaveLength(4);
  const sum = (column: number): number =>
    cells.slice(1).reduce((total, row) => total + Number(row[column]), 0);
  expect([4, 5, 6, 7].map(sum)).toEqual([14, 15, 4, 5]);
});

test('the chart of a figure is drawn in the colours of the theme', async () => {
  await open('figures', 'figure');
  const card = app.part('figure').first();
  await card.getByText('What came out').click();
  const chart = card.getByTestId('figure-chart');
  await chart.waitFor();
  const grounds = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(
      await chart.evaluate((image: { naturalWidth: number }) => image.naturalWidth),
    ).toBe(720);
    await chart.scrollIntoViewIfNeeded();
    grounds.push(await blocksOf(blank, await chart.screenshot()));
    expect([colorScheme, await app.obstacles()]).toEqual([colorScheme, []]);
  }
  const [light, dark] = grounds as [Blocks, Blocks];
  expect(light.contrasts.filter((contrast) => contrast > 3).length).toBeGreaterThan(50);
  expect([lostIn(light, dark), lostIn(dark, light)]).toEqual([[], []]);
  expect(app.errors).toEqual([]);
});

// 720: a window of 1440 pixels at 200 %.
describe.each([1024, 720, 600, 390])('%d pixels wide', { tags: 'soak' }, (width) => {
  test.each(PLACES)('%s', async (_, place, drawn) => {
    await page.setViewportSize({ width, height: 860 });
    await open(place(), drawn);
    const { dark, light } = await atRest();
    expect([lostIn(light, dark), lostIn(dark, light)]).toEqual([[], []]);
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      expect([colorScheme, await app.obstacles()]).toEqual([colorScheme, []]);
    }
  });
});

/** Parts of the page of a run, each with what is there once it is drawn. */
const PARTS = [
  ['strips', '#chart-ranks', 'rank-group'],
  ['machines', '#chart-machines', 'machines-table'],
  ['machine charts', '#chart-machines-processors', 'machines-processors-chart'],
  ['buckets', '#chart-buckets', 'buckets-table'],
  ['heat map', '#chart-bucket-map', 'bucket-map-chart'],
  ['timeline', '#chart-trace', 'timeline'],
] as const;

describe.each([
  { width: 1440, height: 900, tags: [] },
  { width: 1024, height: 900, tags: ['soak'] },
  { width: 600, height: 844, tags: ['soak'] },
  { width: 390, height: 844, tags: [] },
])('measures of a run, $width pixels wide', ({ width, height, tags }) => {
  test('each part stays in its card, in both themes', { tags }, async () => {
    await page.setViewportSize({ width, height });
    await open(`run/${MEASURED}`, 'timeline');
    for (const [, card, drawn] of PARTS) {
      await app.part(drawn).first().waitFor();
      await page.locator(card).evaluate(toTop);
      const { dark, light } = await atRest();
      // Bars of strips are flat: a block within one has no contrast, whatever is around it.
      if (card !== '#chart-ranks') {
        const lost = [lostIn(light, dark), lostIn(dark, light)];
        expect([card, ...lost]).toEqual([card, [], []]);
      }
      await staysWithin(page.locator(card));
    }
    await app.part('ranks-table-toggle').click();
    await app.part('ranks-table').waitFor();
    await staysWithin(page.locator('main'));
    await app.part('ranks-table-toggle').click();
    expect(app.errors).toEqual([]);
  });

  test('a pinned iteration leaves more than half of the page', { tags }, async () => {
    await page.setViewportSize({ width, height });
    await open(`run/${MEASURED}`, 'phase-chart');
    await app.part('phase-chart').focus();
    for (const key of ['Home', 'Enter']) await page.keyboard.press(key);
    await app.part('pinned-wait').waitFor();
    const box = (await app.part('pinned').boundingBox())!;
    expect(box.height).toBeLessThan(height / 2);
    await staysWithin(app.part('pinned'));
    const { dark, light } = await atRest();
    expect([lostIn(light, dark), lostIn(dark, light)]).toEqual([[], []]);
    // Axe looks at all parts of the page, wherever it is scrolled to.
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      expect([colorScheme, await app.obstacles()]).toEqual([colorScheme, []]);
    }
    await page.keyboard.press('Escape');
    await app.part('pinned').waitFor({ state: 'detached' });
  });
});

test('what shows more hands the focus to what it shows', async () => {
  await open(`run/${MEASURED}`, 'rank-group');
  const focused = page.locator(':focus');
  const more = page.getByRole('button', { name: /^Show all 10 ranks of node-a/ });
  await more.press('Enter');
  expect(await focused.getAttribute('data-testid')).toBe('rank-8');
  expect(await more.count()).toBe(0);
  await app.part('phase-chart').focus();
  for (const key of ['Home', 'Enter']) await page.keyboard.press(key);
  await page.getByRole('button', { name: 'Show all 30 ranks' }).press('Enter');
  expect(await focused.getAttribute('aria-label')).toBe(
    'Ranks of the pinned iteration',
  );
  expect(await app.part('pinned-table').locator('tbody tr').count()).toBe(30);
  await app.part('unpin').click();
});

test('a sentence of the verdict that moves to another line is drawn whole there', async () => {
  await page.setViewportSize({ width: 1440, height: 900 });
  // Whatever was scrolled to.
  await open('runs', 'runs-table');
  await open(`run/${MEASURED}`, 'phase-chart');
  await app.part('verdict').getByText('Mean of the last').waitFor();
  const room = app.part('verdict').locator('..');
  const { height, ...box } = (await room.boundingBox())!;
  await page.evaluate(LENGTHEN);
  const place = { ...box, height: 2 * height };
  const drawn = await page.screenshot({ clip: place });
  // At another width the page is drawn anew as a whole.
  for (const width of [1441, 1440]) await page.setViewportSize({ width, height: 900 });
  expect(drawn.equals(await page.screenshot({ clip: place }))).toBe(true);
});

describe('while it loads', { tags: 'soak' }, () => {
  let slow: Page;
  /** Answers of the app that the page has not got yet. */
  let held: (() => void)[] | undefined;

  beforeAll(async () => {
    slow = await page.context().newPage();
    await slow.routeWebSocket(/./, (socket) => {
      const server = socket.connectToServer();
      server.onMessage((message) => {
        if (held === undefined) socket.send(message);
        else held.push(() => socket.send(message));
      });
    });
    await slow.setViewportSize({ width: 1440, height: 900 });
    await slow.goto(page.url());
    await slow.getByTestId('connection-status').waitFor();
  });
  afterAll(() => slow?.close());

  test.each(PLACES)('%s', async (_, place, drawn) => {
    held = [];
    await slow.evaluate(`location.hash = ${JSON.stringify(`#/${place()}`)}`);
    await expect.poll(() => held!.length).toBeGreaterThan(0);
    for (const colorScheme of ['light', 'dark'] as const) {
      await slow.emulateMedia({ colorScheme });
      expect([colorScheme, await obstacles(slow)]).toEqual([colorScheme, []]);
    }
    for (const send of held) send();
    held = undefined;
    await slow.getByTestId(drawn).first().waitFor();
    await slow.evaluate("location.hash = '#/start'");
  });
});

/** The part of the browser's API that is needed, where the functions below run. */
interface Box {
  readonly right: number;
  readonly width: number;
}
interface Drawn {
  readonly className: unknown;
  readonly parentElement: Drawn;
  getBoundingClientRect(): Box;
  querySelectorAll(selector: string): Iterable<Drawn>;
  scrollIntoView(options: { readonly block: 'start' }): void;
}
declare const getComputedStyle: (element: Drawn) => {
  readonly overflowX: string;
  readonly position: string;
};

/** Nothing is drawn out of it once its regions know their widths, which they hear of in the next frame. */
async function staysWithin(part: Locator): Promise<void> {
  await expect.poll(() => part.evaluate(outOf), { message: String(part) }).toEqual([]);
}

function toTop(element: Drawn): void {
  element.scrollIntoView({ block: 'start' });
}

/** Elements that are drawn beyond the right edge of an element, or of a box within it, and cannot be scrolled to. */
function outOf(whole: Drawn): readonly string[] {
  const found: string[] = [];
  for (const element of whole.querySelectorAll('*')) {
    const { right, width } = element.getBoundingClientRect();
    // Hidden texts have a pixel.
    if (width <= 1) continue;
    for (let box = element.parentElement; ; box = box.parentElement) {
      if (getComputedStyle(box).overflowX !== 'visible') break;
      const edge = box.getBoundingClientRect();
      if (edge.width > 1 && right > edge.right + 1) {
        found.push(`${String(element.className)} by ${right - edge.right}`);
        break;
      }
      if (box === whole) break;
    }
  }
  return found;
}
