/**
 * The time that the page of a stored run takes, in a real Chromium in front of a real `gradwire serve`:
 * until the run is drawn, and until a step closer is. Each visit has a browser context of its
 * own, so nothing is cached; the app itself is loaded before the clock starts.
 */
import type { Browser, Page } from 'playwright-core';
import { median, quantile } from '../quantiles.ts';
import type { Measurement } from '../report.ts';

const VISITS = 3;
/** Steps closer in each visit, and back. */
const STEPS = 5;
const FRAME_BYTES_GOAL = 4 * 2 ** 20;

/**
 * Runs in the page: the time until the chart of phases shows something else than it does, after
 * the frame that draws it and with nothing more on its way.
 */
const NOTE_CHANGES = `globalThis.noteChange = (act) => new Promise((resolve) => {
  const chart = () => document.querySelector('[data-testid=phase-chart]');
  const shown = () => chart()?.getAttribute('aria-valuemin') + ' ' + chart()?.getAttribute('aria-valuetext') +
    document.querySelector('[data-testid=phase-summary]')?.textContent;
  const before = shown();
  const start = performance.now();
  let last;
  const look = () => {
    const now = performance.now();
    const text = shown();
    if (text !== (last?.text ?? before)) last = { text, at: now };
    if (last !== undefined && now - last.at > 300) resolve(last.at - start);
    else if (now - start > 20000) resolve(Infinity);
    else requestAnimationFrame(look);
  };
  act();
  requestAnimationFrame(look);
});`;

interface Visit {
  readonly openMs: number;
  readonly zoomMs: readonly number[];
  readonly largest: number;
  readonly bytes: number;
}

export async function measurePage(
  browser: Browser,
  url: string,
  run: string,
  name: string,
): Promise<readonly Measurement[]> {
  const visits: Visit[] = [];
  for (let count = 0; count < VISITS; count++)
    visits.push(await visit(browser, url, run));
  const opened = visits.map(({ openMs }) => openMs);
  const zooms = visits.flatMap(({ zoomMs }) => zoomMs);
  return [
    {
      name: `${name}: opened`,
      value: median(opened),
      unit: 'ms',
      goal: 1000,
      note: `until its phases are drawn for good; median of ${VISITS} visits, worst ${quantile(opened, 1).toFixed(0)} ms`,
    },
    {
      name: `${name}: a step closer or wider`,
      value: median(zooms),
      unit: 'ms',
      goal: 100,
      note: `until its last bars are drawn; median of ${zooms.length}, worst ${quantile(zooms, 1).toFixed(0)} ms`,
    },
    {
      name: `${name}: largest message`,
      value: Math.max(...visits.map(({ largest }) => largest)) / 1e6,
      unit: 'MB',
      goal: FRAME_BYTES_GOAL / 1e6,
      note: `over the WebSocket, before compression; ${(median(visits.map(({ bytes }) => bytes)) / 1e6).toFixed(1)} MB in all`,
    },
  ];
}

async function visit(browser: Browser, url: string, run: string): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  try {
    const page = await context.newPage();
    await page.addInitScript({ content: NOTE_CHANGES });
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    let [largest, bytes] = [0, 0];
    session.on('Network.webSocketFrameReceived', ({ response }) => {
      const length = Buffer.byteLength(response.payloadData);
      largest = Math.max(largest, length);
      bytes += length;
    });
    await page.goto(`${url}#/runs`);
    await page.locator('[data-testid=run-row], tbody tr').first().waitFor();
    const openMs = await timed(page, `location.hash = '#/run/${run}'`);
    const zoomMs: number[] = [];
    const click = (step: string): string =>
      `document.querySelector('[data-testid=span-${step}]').click()`;
    for (const step of ['in', 'out'] as const) {
      const button = page.locator(`[data-testid=span-${step}]`);
      for (let count = 0; count < STEPS && (await button.isEnabled()); count++) {
        zoomMs.push(await timed(page, click(step)));
      }
    }
    return { openMs, zoomMs, largest, bytes };
  } finally {
    await context.close();
  }
}

const timed = (page: Page, act: string): Promise<number> =>
  page.evaluate<number>(`globalThis.noteChange(() => { ${act} })`);
