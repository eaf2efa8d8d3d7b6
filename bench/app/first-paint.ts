/**
 * The costs of a visit to the dashboard: requests, bytes as they came over the wire, and the
 * time to the first paint and to what the visitor came for, in a real Chromium in front of a
 * real server. Each visit has a browser context of its own, so nothing is cached; times begin
 * with the navigation to the URL with the token, its redirect included.
 */
import type { Browser } from 'playwright-core';
import { launchChromium } from '../../tests/harness/browser.ts';
import { GradwireHome, succeeded } from '../../tests/harness/gradwire.ts';
import { openServer } from '../../tests/harness/server.ts';
import { median, quantile } from '../quantiles.ts';
import type { Measurement } from '../report.ts';

const VISITS = 9;

/** A page of the app and what shows that it has what the visitor came for. */
interface Visited {
  readonly name: string;
  readonly hash: string;
  readonly shown: string;
  /** Name of what `shown` waits for. */
  readonly what: string;
}

/** A network between browser and server, emulated by Chromium. */
interface Line {
  readonly name: string;
  readonly bitsPerSecond: number;
  readonly latencyMs: number;
}

/** A line as through an SSH tunnel from home. */
const TUNNEL: Line = {
  name: '10 Mbit/s, 40 ms',
  bitsPerSecond: 10e6,
  latencyMs: 40,
};

interface Visit {
  readonly requests: number;
  /** Bytes of HTTP answers, headers included. */
  readonly httpBytes: number;
  /** Bytes of messages over the WebSocket until the page was shown, before compression. */
  readonly socketBytes: number;
  readonly firstPaintMs: number;
  readonly shownMs: number;
  /** Processor time of the main thread until the page was shown: what other processes cannot stretch. */
  readonly processorMs: number;
}

/**
 * Runs in the page: a promise of the time when the selector first finds something, after the
 * frame that draws it. Text, for it is the browser's, not Node's.
 */
const noteWhenShown = (selector: string): string => `
  globalThis.shownAt = new Promise((resolve) => {
    new MutationObserver((_changes, observer) => {
      if (document.querySelector(${JSON.stringify(selector)}) === null) return;
      observer.disconnect();
      requestAnimationFrame(() => resolve(scheduler.postTask(() => performance.now())));
    }).observe(document, { childList: true, subtree: true, attributes: true });
  });
`;

/** Script for the page that reads the paint's own entry, past or to come, and what the observer noted. */
const READ_TIMES = `new Promise((resolve) => {
  new PerformanceObserver((entries, observer) => {
    const [paint] = entries.getEntriesByName('first-contentful-paint');
    if (paint === undefined) return;
    observer.disconnect();
    resolve(paint.startTime);
  }).observe({ type: 'paint', buffered: true });
}).then(async (firstPaintMs) => ({ firstPaintMs, shownMs: await globalThis.shownAt }))`;

async function visit(
  browser: Browser,
  url: string,
  { hash, shown }: Visited,
  line?: Line,
): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  try {
    const page = await context.newPage();
    await page.addInitScript({ content: noteWhenShown(shown) });
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Performance.enable');
    if (line !== undefined) {
      await session.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: line.latencyMs,
        downloadThroughput: line.bitsPerSecond / 8,
        uploadThroughput: line.bitsPerSecond / 8,
      });
    }
    let requests = 0;
    let httpBytes = 0;
    let socketBytes = 0;
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      requests++;
      httpBytes += encodedDataLength;
    });
    session.on('Network.webSocketFrameReceived', ({ response }) => {
      socketBytes += Buffer.byteLength(response.payloadData);
    });
    await page.goto(`${url}${hash}`);
    const times =
      await page.evaluate<Pick<Visit, 'firstPaintMs' | 'shownMs'>>(READ_TIMES);
    const { metrics } = await session.send('Performance.getMetrics');
    const { value } = metrics.find(({ name }) => name === 'ThreadTime')!;
    return { requests, httpBytes, socketBytes, ...times, processorMs: value * 1000 };
  } finally {
    await context.close();
  }
}

export async function measureFirstPaint(): Promise<readonly Measurement[]> {
  await using home = new GradwireHome();
  const settings = (iterations: number) => [
    ...['run', 'quickstart', '--json', '--set', `iterations=${iterations}`],
    ...['--set', 'world.ranks=2'],
  ];
  for (let run = 0; run < 4; run++) succeeded(await home.run(settings(20)));
  succeeded(await home.run(settings(400)));
  const { stdout } = await home.run(['runs', 'list', '--limit', '1', '--json']);
  const { id: run } = JSON.parse(stdout) as { id: string };
  const pages: readonly Visited[] = [
    {
      name: 'first screen',
      hash: '',
      shown: '[data-testid=recent-runs] tbody tr',
      what: 'runs are listed',
    },
    {
      name: 'page of a run',
      hash: `#/run/${run}`,
      // Iterations are on the chart's axis.
      shown: '[data-testid=phase-chart]:not([aria-valuemax="0"]) canvas',
      what: 'its phases are drawn',
    },
  ];
  await using server = await openServer(home);
  const browser = await launchChromium();
  try {
    const measure = async (visited: Visited, line?: Line) => {
      const visits: Visit[] = [];
      for (let count = 0; count < VISITS; count++) {
        visits.push(await visit(browser, server.url, visited, line));
      }
      return rows(visited, visits, line);
    };
    const measurements: Measurement[] = [];
    for (const visited of pages) measurements.push(...(await measure(visited)));
    for (const visited of pages) measurements.push(...(await measure(visited, TUNNEL)));
    return measurements;
  } finally {
    await browser.close();
  }
}

function rows(
  { name, what }: Visited,
  visits: readonly Visit[],
  line: Line | undefined,
): readonly Measurement[] {
  const of = (key: keyof Visit): readonly number[] => visits.map((each) => each[key]);
  const time = (title: string, key: 'firstPaintMs' | 'shownMs'): Measurement => ({
    name: `${name}${line === undefined ? '' : ` over ${line.name}`}, ${title}`,
    value: median(of(key)),
    unit: 'ms',
    ...(line === undefined ? { goal: 1000 } : {}),
    note:
      `median of ${visits.length} visits, worst ${quantile(of(key), 1).toFixed(0)} ms; ` +
      'nothing cached',
  });
  const times = [time('first contentful paint', 'firstPaintMs'), time(what, 'shownMs')];
  if (line !== undefined) return times;
  const socket = median(of('socketBytes')) / 1000;
  return [
    {
      name: `${name}, over the wire`,
      value: median(of('httpBytes')) / 1000,
      unit: 'kB',
      goal: 300,
      note:
        `${median(of('requests'))} requests, redirect and headers included; ` +
        `then messages of ${socket.toFixed(1)} kB over the WebSocket, compressed`,
    },
    {
      name: `${name}, main thread until ${what}`,
      value: median(of('processorMs')),
      unit: 'ms',
      note: 'processor time, which other processes do not stretch; median of the same visits',
    },
    ...times,
  ];
}
