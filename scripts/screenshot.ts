/**
 * The README's picture: the quickstart in a real Chromium, a moment after the switch to
 * top-k. `node scripts/screenshot.ts` writes docs/images/live-run.png.
 */
import path from 'node:path';
import { launchChromium } from '../tests/harness/browser.ts';
import { GradwireHome } from '../tests/harness/gradwire.ts';
import { untilAsync } from '../tests/harness/processes.ts';
import { openServer } from '../tests/harness/server.ts';

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
  await untilAsync(iteration, (seen) => seen >= 210, 'the dense part', 60_000);
  await page.getByTestId('invite-topk').click();
  const status = page.getByTestId('switch-status').getByText(/took effect/);
  await status.waitFor();
  const fence = Number(/iteration ([\d,]+)/.exec(await status.innerText())![1]);
  await untilAsync(iteration, (seen) => seen >= fence + 30, 'the part after', 60_000);
  await page.screenshot({
    path: path.join(import.meta.dirname, '../docs/images/live-run.png'),
  });
} finally {
  await browser.close();
}
