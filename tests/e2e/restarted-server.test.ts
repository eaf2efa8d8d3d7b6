/** A page with its server: its token, another server on this computer, a restart; and what a run is made from. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../harness/browser.ts';
import { GradwireHome, succeeded } from '../harness/gradwire.ts';
import { watchErrors } from '../harness/page.ts';
import { openServer, type Server } from '../harness/server.ts';
import { freePort } from '../harness/sshd.ts';

let home: GradwireHome;
let browser: Browser;
let server: Server;
let page: Page;
let port: string;
let run: string;
/** Addresses that the page has asked for, its WebSockets' too, once it was admitted. */
const asked: string[] = [];

beforeAll(async () => {
  home = new GradwireHome();
  const ran = await home.run([
    ...['run', 'quickstart', '--set', 'iterations=12', '--set', 'world.ranks=2'],
    ...['--set', 'name=first', '--switch', '6:method=topk,ratio=0.01'],
  ]);
  succeeded(ran);
  run = JSON.parse(
    (await home.run(['runs', 'list', '--json'])).stdout.split('\n')[0]!,
  ).id;
  port = String(await freePort());
  server = await openServer(home, ['--port', port]);
  browser = await launchChromium();
  // A context of its own, so that further tabs share its storage.
  page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(240_000);
  await page.goto(server.url);
  await page.getByTestId('try-button').waitFor();
  page.on('request', (request) => asked.push(request.url()));
  page.on('websocket', (socket) => asked.push(socket.url()));
});

afterAll(async () => {
  await browser?.close();
  await server?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
});

it('keeps its token from the address, and from servers on other ports', async () => {
  expect(page.url()).not.toContain('token');
  const asked: IncomingHttpHeaders[] = [];
  const other = createServer((request, response) => {
    asked.push(request.headers);
    response.end('another user’s page');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const visitor = await page.context().newPage();
  await visitor.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
  expect(await visitor.evaluate('document.cookie + localStorage.length')).toBe('0');
  expect(asked.length).toBeGreaterThan(0);
  for (const headers of asked) expect(headers.cookie).toBeUndefined();
  await visitor.close();
  other.closeAllConnections();
  await new Promise((resolve) => other.close(resolve));
});

it('has its token after a reload, and in another tab with the place that was asked for', async () => {
  await page.reload();
  await page.getByTestId('try-button').waitFor();
  const tab = await page.context().newPage();
  await tab.goto(`${server.url}#/run/${run}`);
  await tab
    .getByTestId('run-state')
    .filter({ hasText: /completed/i })
    .waitFor();
  expect(tab.url()).toBe(`http://127.0.0.1:${port}/#/run/${run}`);
  await tab.close();
});

it('tells a browser without the token which address to open', async () => {
  const stranger = await browser.newContext();
  const visited = await stranger.newPage();
  await visited.goto(`http://127.0.0.1:${port}/`);
  await visited.getByText('Open the address that Gradwire printed').waitFor();
  await visited.getByText('does not let this page read the runs').waitFor();
  expect(await visited.getByText('Reading the runs').count()).toBe(0);
  await stranger.close();
});

it('starts nothing at a mere letter, and opens the palette as other apps do', async () => {
  const errors = watchErrors(page);
  await page.keyboard.press('t');
  await page.keyboard.press('Control+k');
  await page.getByTestId('command-palette').waitFor();
  await page.keyboard.press('Escape');
  expect(page.url()).toMatch(/\/(#\/start)?$/);
  expect(errors).toEqual([]);
});

it('goes on in the page that was open, also with a run that it was opening', async () => {
  // The page has fetched this view's files before the server goes away.
  const state = page.getByTestId('run-state').filter({ hasText: /completed/i });
  await page.evaluate(`location.hash = '#/run/${run}'`);
  await state.waitFor();
  await page.evaluate(`location.hash = '#/start'`);
  await page.getByTestId('try-button').waitFor();
  await server[Symbol.asyncDispose]();
  await page.getByText('Reconnecting').first().waitFor();
  await page.evaluate(`location.hash = '#/run/${run}'`);
  server = await openServer(home, ['--port', port]);
  await page
    .getByTestId('run-state')
    .filter({ hasText: /completed/i })
    .waitFor();
  expect(await page.getByRole('alert').allInnerTexts()).toEqual([]);
  // While the server was away, anybody may have listened on its port.
  const token = new URL(server.url).searchParams.get('token')!;
  expect(asked.some((address) => address.includes('/rpc?nonce='))).toBe(true);
  expect(asked.filter((address) => address.includes(token))).toEqual([]);
});

it('repeats the switches of the run that a new one is made from, under a name of its own', async () => {
  await page.getByRole('link', { name: 'Change and run' }).first().click();
  const repeats = page.getByTestId('repeat-switches');
  await repeats.waitFor();
  expect(await page.getByText('at iteration 6 to topk').count()).toBe(1);
  expect(await page.getByTestId('field-name').inputValue()).toBe('first 2');
  await page.getByTestId('launch').click();
  await page.getByRole('heading', { name: 'first 2' }).waitFor();
  await page
    .getByTestId('run-state')
    .filter({ hasText: /completed/i })
    .waitFor();
  const [row = ''] = (await home.run(['runs', 'list', '--json'])).stdout.split('\n');
  expect(row).toContain('"first 2"');
  expect((JSON.parse(row) as { methods: unknown }).methods).toEqual(['none', 'topk']);
});
