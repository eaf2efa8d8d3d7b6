/** How the page comes: the first screen without the others' files, and what if one fails. */
import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../harness/browser.ts';
import { GradwireHome } from '../harness/gradwire.ts';
import { openServer, type Server } from '../harness/server.ts';
import { watchErrors } from '../harness/page.ts';

let home: GradwireHome;
let server: Server;
let browser: Browser;
let context: BrowserContext;

beforeAll(async () => {
  home = new GradwireHome();
  server = await openServer(home);
  browser = await launchChromium();
  context = await browser.newContext();
});

afterAll(async () => {
  await browser?.close();
  await server?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

const VIEWS = ['LiveRunView', 'NewExperimentView', 'ClusterView'];

it('shows the first screen before the other views have come, then fetches them', async () => {
  const page = await context.newPage();
  const errors = watchErrors(page);
  const asked: string[] = [];
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(new RegExp(`/(${VIEWS.join('|')})-.*\\.js`), async (route) => {
    asked.push(route.request().url());
    await released;
    await route.continue();
  });
  await page.goto(server.url);
  await page.getByTestId('try-button').waitFor();
  // A click shows the last place until the next one is there: never an empty page.
  await page.getByRole('link', { name: 'Cluster' }).click();
  await expect.poll(() => asked.some((url) => url.includes('ClusterView'))).toBe(true);
  await page.getByTestId('try-button').waitFor();
  release();
  await page.getByTestId('add-node').waitFor();
  expect(await page.getByTestId('try-button').count()).toBe(0);
  // The rest follows by itself.
  const seen = (): string[] =>
    VIEWS.filter((view) => asked.some((url) => url.includes(view)));
  await expect.poll(seen).toEqual(VIEWS);
  expect(errors).toEqual([]);
  await page.close();
});

it('opens at the place that the address names', async () => {
  const page = await context.newPage();
  await page.goto(`${server.url}#/new`);
  await page.getByTestId('launch').waitFor();
  await page.close();
});

it('says that a file did not come, and shows the page once it does', async () => {
  const page = await context.newPage();
  await page.route(/\/ClusterView-.*\.js/, (route) => route.abort());
  await page.goto(`${server.url}#/cluster`);
  const error = page.getByTestId('error');
  await error.waitFor();
  expect(await error.getAttribute('data-code')).toBe('VIEW_NOT_LOADED');
  expect(await error.innerText()).toContain('restart Gradwire');
  // The rest of the app goes on.
  await page.getByRole('link', { name: 'Runs', exact: true }).click();
  await page.getByTestId('runs-search').waitFor();
  await page.getByRole('link', { name: 'Cluster' }).click();
  await error.waitFor();
  await page.unrouteAll();
  await error.getByRole('button', { name: 'Reload' }).click();
  await page.getByTestId('add-node').waitFor();
  expect(await error.count()).toBe(0);
  await page.close();
});

it('fetches nothing again that the browser has', async () => {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  await page.goto(server.url);
  await page.getByTestId('try-button').waitFor();
  let answers = 0;
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    answers++;
    bytes += encodedDataLength;
  });
  await page.reload();
  await page.getByTestId('try-button').waitFor();
  await expect.poll(() => answers).toBeGreaterThan(2);
  // Some headers: the page itself is asked for again and has not changed.
  expect(bytes).toBeLessThan(10_000);
  await page.close();
});
