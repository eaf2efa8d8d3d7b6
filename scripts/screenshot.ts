/**
 * The pictures of README and docs/tour.md, from the app in a real Chromium: a run a moment after its
 * switch to top-k, the timeline of its next iterations, the comparison of a sweep, and a plan.
 * `node scripts/screenshot.ts` writes docs/images/*.webp: PNGs would be three times as large, and are
 * in every package.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../tests/harness/browser.ts';
import { GradwireHome, succeeded } from '../tests/harness/gradwire.ts';
import { untilAsync } from '../tests/harness/processes.ts';
import { openServer } from '../tests/harness/server.ts';

/** Limits are there for what hangs. */
const PATIENCE_MS = 240_000;
/** Pixels of the width of a picture of the tour, half of a screen's. */
const SMALL = 1080;

/** A program for a page: it encodes the picture at an address as WebP of a width, as a data URL. */
const ENCODE = `async (source, width, quality) => {
  const image = new Image();
  image.src = source;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = Math.round((image.naturalHeight * width) / image.naturalWidth);
  const context = canvas.getContext('2d');
  context.imageSmoothingQuality = 'high';
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL('image/webp', quality);
}`;

await using home = new GradwireHome();
await using server = await openServer(home);
const browser = await launchChromium();
try {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    colorScheme: 'light',
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(server.url);
  await switched(page);
  await save(browser, 'live-run', await page.screenshot(), 1440, 0.85);

  await page.getByTestId('trace').click();
  await page.getByTestId('timeline').waitFor();
  await page.getByTestId('timeline').focus();
  for (const key of ['w', 'w', 'w', 'w', 'w']) await page.keyboard.press(key);
  const panel = await page.locator('#chart-trace').screenshot();
  await save(browser, 'timeline', panel, SMALL, 0.8);
  succeeded(await home.run(['runs', 'stop', 'last']));

  await go(page, `compare/${(await swept()).join(',')}?target=75%25`);
  await page.getByTestId('comparison-verdict').waitFor();
  await drawn(page);
  await save(browser, 'compare', await page.screenshot(), SMALL, 0.8);

  await go(page, 'plan?preset=digits-topk&ranks=16&compute=5');
  await page.getByTestId('plan-bandwidth').fill('1 Gbit/s');
  await page.getByTestId('plan-bandwidth').press('Enter');
  await page.getByTestId('plan-curve-chart').waitFor();
  await drawn(page);
  await save(browser, 'plan', await page.screenshot(), SMALL, 0.8);
} finally {
  await browser.close();
}

/** Waits until a page looks the same in two pictures, one after the other. */
async function drawn(page: Page): Promise<void> {
  let last = await page.screenshot();
  await untilAsync(
    async () => {
      const next = await page.screenshot();
      const isSame = next.equals(last);
      last = next;
      return isSame;
    },
    (isSame) => isSame,
    'the page to be drawn',
    PATIENCE_MS,
  );
}

async function go(page: Page, place: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`);
}

/** Opens the quickstart's run, and returns once it has trained with top-k for a moment. */
async function switched(page: Page): Promise<void> {
  await page.getByTestId('try-button').click();
  const iteration = async (): Promise<number> =>
    Number(
      (await page.getByTestId('live-iteration').innerText()).replaceAll(/\D/g, ''),
    );
  await untilAsync(iteration, (seen) => seen >= 210, 'the dense part', PATIENCE_MS);
  await page.getByTestId('invite-topk').click();
  const status = page.getByTestId('switch-status').getByText(/took effect/);
  await status.waitFor();
  const fence = Number(/iteration ([\d,]+)/.exec(await status.innerText())![1]);
  await untilAsync(
    iteration,
    (seen) => seen >= fence + 30,
    'the part after',
    PATIENCE_MS,
  );
}

/** Runs the sweep of the tour, and returns the ids of its runs. */
async function swept(): Promise<readonly string[]> {
  succeeded(
    await home.run([
      ...['sweep', 'quickstart', '--name', 'which is faster', '--seeds', '3'],
      ...['--vary', 'exchange.method=none,topk', '--set', 'world.ranks=2'],
      ...['--set', 'network.bandwidth=100 Mbit/s', '--set', 'iterations=200'],
      ...['--set', 'evaluateEvery=10'],
    ]),
  );
  const list = ['runs', 'list', '--json', '--filter', 'sweep:"which is faster"'];
  const { stdout } = succeeded(await home.run(list));
  return stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { readonly id: string }).id);
}

/** Saves a picture of that width as WebP, which Chromium itself encodes, on a page without use. */
async function save(
  browser: Browser,
  name: string,
  png: Buffer,
  width: number,
  quality: number,
): Promise<void> {
  const page = await browser.newPage();
  const url = JSON.stringify(`data:image/png;base64,${png.toString('base64')}`);
  const encoded = await page.evaluate<string>(
    `(${ENCODE})(${url}, ${width}, ${quality})`,
  );
  await page.close();
  const file = path.join(import.meta.dirname, `../docs/images/${name}.webp`);
  writeFileSync(file, Buffer.from(encoded.slice(encoded.indexOf(',') + 1), 'base64'));
}
