/**
 * `gradwire bench app --long`: ten minutes of a run with 64 ranks at 50 iterations/s, drawn by a page. It
 * counts frames, tasks that block the page, and what page and main take while records arrive.
 */
import { readFileSync } from 'node:fs';
import type { CDPSession, Page } from 'playwright-core';
import { iterationShown, withDrawnRun, type DrawnRun, type Rate } from './charts.ts';
import { quantile } from '../quantiles.ts';
import { ThreadClock, TICKS, type ThreadTime } from './thread-clock.ts';
import type { Measurement } from '../report.ts';

const RATE: Rate = { ranks: 64, perSecond: 50 };
/** Milliseconds of a frame at 60 frames a second, and of the rounding of the browser's clock. */
const FRAME_MS = 16.7;
const ROUNDING_MS = 0.1;

/** Runs in the page: text, because its observer and its frames are the browser's, not Node's. */
const COLLECT = `
  globalThis.frameTimes = [];
  globalThis.longTasks = [];
  let last = performance.now();
  const frame = (at) => {
    globalThis.frameTimes.push(at - last);
    last = at;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  new PerformanceObserver((list) => {
    for (const { duration, startTime } of list.getEntries())
      globalThis.longTasks.push([performance.timeOrigin + startTime, duration]);
  }).observe({ type: 'longtask' });
`;

export async function measureLongRun(seconds: number): Promise<readonly Measurement[]> {
  return await withDrawnRun(RATE, (drawn) => measure(drawn, seconds));
}

async function measure(
  { page, server }: DrawnRun,
  seconds: number,
): Promise<readonly Measurement[]> {
  const renderer = await rendererOf(page);
  using clock = new ThreadClock(renderer);
  await page.evaluate(COLLECT);
  const memory = [residentMB(renderer)];
  const begun = { at: performance.now(), iteration: await iterationShown(page) };
  const processor = processorSeconds(server);
  while (performance.now() - begun.at < 1000 * seconds) {
    await page.waitForTimeout(Math.min(10_000, 1000 * seconds));
    memory.push(residentMB(renderer));
  }
  const elapsed = (performance.now() - begun.at) / 1000;
  const busy = (processorSeconds(server) - processor) / elapsed;
  const arrived = ((await iterationShown(page)) - begun.iteration) / elapsed;
  const { frameTimes, longTasks } = await page.evaluate(() => {
    const { frameTimes, longTasks } = globalThis as unknown as {
      frameTimes: number[];
      longTasks: [began: number, took: number][];
    };
    return { frameTimes, longTasks };
  });
  const spent = longTasks.map(([began, took]) => clock.between(began, began + took));
  const whole = clock.all;
  const name = `${RATE.ranks} ranks at ${RATE.perSecond} iterations/s`;
  const note = `over ${elapsed.toFixed(0)} s; ${arrived.toFixed(1)} iterations/s arrived`;
  const late = frameTimes.filter((ms) => ms > FRAME_MS + ROUNDING_MS).length;
  const third = Math.ceil(memory.length / 3);
  return [
    {
      name: `${name}: a frame, 95 %`,
      value: quantile(frameTimes, 0.95) ?? 0,
      unit: 'ms',
      goal: FRAME_MS + ROUNDING_MS,
      note,
    },
    {
      name: `${name}: frames that came late`,
      value: (100 * late) / frameTimes.length,
      unit: '%',
      note: `${late} of ${frameTimes.length}; 99 % within ${quantile(frameTimes, 0.99)!.toFixed(1)} ms`,
    },
    {
      name: `${name}: longest task`,
      value: Math.max(0, ...longTasks.map(([, took]) => took)),
      unit: 'ms',
      goal: 50,
      note: `${longTasks.length} tasks of 50 ms and more (0 ms: none)`,
    },
    {
      name: `${name}: processor time of a task of 50 ms and more`,
      value: Math.max(0, ...spent.map(({ ran }) => ran)),
      unit: 'ms',
      goal: 50,
      note: `at most; ${longTasks.map(([, took], i) => taskText(took, spent[i]!)).join('; ') || 'none'}`,
    },
    {
      name: `${name}: the page's main thread`,
      value: (100 * whole.ran) / (1000 * elapsed),
      unit: '%',
      note: `of one core; ready and waiting for one ${((100 * whole.waited) / (1000 * elapsed)).toFixed(1)} %; the host took ${whole.stolen.toFixed(0)} ms from all cores`,
    },
    {
      name: `${name}: memory of the page`,
      value: Math.max(...memory),
      unit: 'MB',
      goal: 400,
      note: `resident set of its process; at most ${Math.max(...memory.slice(0, third)).toFixed(0)} MB in the first third, ${Math.max(...memory.slice(-third)).toFixed(0)} MB in the last`,
    },
    {
      name: `${name}: processor time of main`,
      value: 100 * busy,
      unit: '%',
      goal: 100,
      note: 'of one core, everything stored',
    },
  ];
}

/** The parts of a late task's time, in ms. */
function taskText(took: number, { ran, stolen, waited }: ThreadTime): string {
  const parts = [
    `${ran.toFixed(0)} of ${took.toFixed(0)}`,
    `waited ${waited.toFixed(0)}`,
  ];
  if (stolen > 0) parts.push(`the host took ${stolen.toFixed(0)}`);
  return parts.join(', ');
}

/** The process that draws the page: the renderer with the most processor time. */
async function rendererOf(page: Page): Promise<number> {
  const session: CDPSession = await page.context().browser()!.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const renderers = processInfo.filter(({ type }) => type === 'renderer');
  return renderers.toSorted((a, b) => b.cpuTime - a.cpuTime)[0]!.id;
}

function residentMB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) / 1000;
}

function processorSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the command, in brackets, may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}
