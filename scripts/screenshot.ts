/**
 * The README's picture: the quickstart in a real Chromium, a moment after the switch to
 * top-k. `node scripts/screenshot.ts` writes docs/images/live-run.webp: a PNG would be three times
 * as large, and is in every package.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { launchChromium } from '../tests/harness/browser.ts';
import { GradwireHome } from '../tests/harness/gradwire.ts';
import { untilAsync } from '../tests/harness/processes.ts';
import { openServer } from '../tests/harness/server.ts';

/** Limits are there for what hangs. */
const PATIENCE_MS = 240_000;

/** A program for a page: it encodes the picture at an address as WebP, as a data URL. */
const ENCODE = `async (source) => {
  const image = new Image();
  image.src = source;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = image.naturalWidth;
  canvas.height = image.naturalHeight;
  canvas.getContext('2d').drawImage(image, 0, 0);
  return canvas.toDataURL('image/webp', 0.85);
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
  await page.goto(server.url);
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
  const file = path.join(import.meta.dirname, '../docs/images/live-run.webp');
  writeFileSync(file, await webp(await context.newPage(), await page.screenshot()));
} finally {
  await browser.close();
}

/** The picture as WebP, which Chromium itself encodes. @param page one that has no other use */
async function webp(page: Page, png: Buffer): Promise<Buffer> {
  const url = JSON.stringify(`data:image/png;base64,${png.toString('base64')}`);
  const encoded = await page.evaluate<string>(`(${ENCODE})(${url})`);
  return Buffer.from(encoded.slice(encoded.indexOf(',') + 1), 'base64');
}
