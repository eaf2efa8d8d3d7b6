/**
 * The timeline of a large trace in a real Chromium: 16 ranks, 50 buckets over a ring and 20 iterations,
 * stored and read as a run's own records are. Measured are its opening, and frames while it is moved
 * and zoomed: their distance on the screen, which other programs lengthen, and the processor time of
 * the page's tasks, which none does.
 */
import type { CDPSession, Page } from 'playwright-core';
import { openHome, resolveHome } from '../../src/main/home/home.ts';
import { RunStore } from '../../src/main/store/run-store.ts';
import type { RunRecord } from '../../src/shared/records/record-kinds.ts';
import { traceKind, type TraceRecord } from '../../src/shared/records/trace.ts';
import { launchChromium } from '../../tests/harness/browser.ts';
import { GradwireHome } from '../../tests/harness/gradwire.ts';
import { openServer } from '../../tests/harness/server.ts';
import { done, sampleSpec, started } from '../../tests/unit/main/sample-records.ts';
import { recordOf, xorshift } from '../history/generated-run.ts';
import { median, quantile } from '../quantiles.ts';
import type { Measurement } from '../report.ts';
import { beginTasks, tasksOf } from './page-tasks.ts';

const RANKS = 16;
const BUCKETS = 50;
const ITERATIONS = 20;
const RUN = 'traced';
const START = 1_790_000_000_000;
/** Frames of each kind of movement. */
const FRAMES = 240;
const FRAME_MS = 1000 / 60;
/** A trace may be read for long before it is drawn. */
const OPEN_MS = 600_000;
const STREAM = 16;

/**
 * One iteration of a rank in nanoseconds: it computes, and 30 messages of each bucket go around the
 * ring, each with the spans that a real one has: send, wait, receive, and reduce or decompress.
 */
function tracedRing(
  rank: number,
  iteration: number,
  random: () => number,
): TraceRecord {
  const spans: TraceRecord['spans'][number][] = [];
  const messages: TraceRecord['messages'][number][] = [];
  const time = (mean: number): number => Math.round(mean * (0.5 + random()));
  const left = (rank + RANKS - 1) % RANKS;
  const right = (rank + 1) % RANKS;
  let now = 0;
  const span = (
    thread: number,
    phase: TraceRecord['spans'][number][1],
    bucket: number,
    duration: number,
  ): void => {
    const peer = phase === 'wait' ? left : -1;
    spans.push([thread, phase, bucket, peer, now, duration, 0]);
    now += duration;
  };
  span(0, 'data', -1, 300_000);
  span(0, 'compute', -1, 5_000_000);
  const rounds = 2 * (RANKS - 1);
  /** The time of a round, the same on all ranks. */
  const round = 60_000;
  const begin = now;
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    for (let at = 0; at < rounds; at++) {
      const due = begin + (bucket * rounds + at) * round;
      now = due;
      messages.push([0, right, bucket, STREAM + bucket, at, 5000, now + 1000]);
      span(1, 'send', bucket, time(8000));
      span(1, 'wait', bucket, due + 30_000 - now);
      messages.push([1, left, bucket, STREAM + bucket, at, 5000, now + 2000]);
      span(1, 'receive', bucket, time(6000));
      span(1, at < RANKS - 1 ? 'reduce' : 'decompress', bucket, time(8000));
    }
  }
  now = begin + BUCKETS * rounds * round;
  span(0, 'apply', -1, 400_000);
  return {
    type: 'trace',
    at: START,
    rank,
    iteration,
    origin: START + iteration * 100,
    wall: now,
    threads: ['trainer', 'engine'],
    buckets: Array.from({ length: BUCKETS }, (_, i) => `layer${i}.weight`),
    spans,
    messages,
  };
}

export async function measureTimeline(): Promise<readonly Measurement[]> {
  await using home = new GradwireHome();
  const bytes = await storeTrace(home);
  await using server = await openServer(home);
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(server.url);
    const begin = performance.now();
    await page.goto(`${new URL(server.url).origin}/#/run/${RUN}`);
    await page.getByTestId('timeline').waitFor({ timeout: OPEN_MS });
    const opened = performance.now() - begin;
    const said = (await page.getByTestId('trace-summary').innerText()).trim();
    const measured: Measurement[] = [
      {
        name: 'a large trace: drawn',
        value: opened / 1000,
        unit: 's',
        note: `${RANKS} ranks × ${BUCKETS} buckets × ${ITERATIONS} iterations, ${(bytes / 1e6).toFixed(0)} MB of records; “${said}”`,
      },
    ];
    const session = await page.context().newCDPSession(page);
    for (const [what, zoom] of VIEWS) {
      await look(page, zoom);
      for (const [how, step] of MOVEMENTS)
        measured.push(...(await moving(page, session, `${what}, ${how}`, step)));
    }
    return measured;
  } finally {
    await browser.close();
  }
}

/** Stretches that are shown: all of it, an iteration, and a few rounds; by steps closer. */
const VIEWS: readonly (readonly [string, number])[] = [
  ['all iterations', 0],
  ['an iteration', 11],
  ['ten rounds', 26],
];

/** The wheel's turn in each frame, and back. */
const MOVEMENTS: readonly (readonly [string, readonly [number, number]])[] = [
  ['moved', [30, 0]],
  ['zoomed', [0, -40]],
];

async function look(page: Page, zoom: number): Promise<void> {
  await page.getByTestId('timeline').focus();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  for (let step = 0; step < zoom; step++) await page.keyboard.press('w');
}

/** Turns the wheel in each frame, there and back, and tells the times between the frames. */
const TURN = `async ([across, along, frames]) => {
  const timeline = document.querySelector('[data-testid=timeline]');
  timeline.focus();
  const { left, top, width } = timeline.getBoundingClientRect();
  const times = [];
  let before = await new Promise(requestAnimationFrame);
  for (let frame = 0; frame < frames; frame++) {
    const way = Math.floor(frame / 20) % 2 === 0 ? 1 : -1;
    timeline.dispatchEvent(new WheelEvent('wheel', {
      deltaX: way * across, deltaY: way * along, clientX: left + width / 2, clientY: top + 60,
      bubbles: true, cancelable: true,
    }));
    const now = await new Promise(requestAnimationFrame);
    times.push(now - before);
    before = now;
  }
  return times;
}`;

async function moving(
  page: Page,
  session: CDPSession,
  what: string,
  turn: readonly [number, number],
): Promise<readonly Measurement[]> {
  await beginTasks(session);
  const call = `(${TURN})(${JSON.stringify([...turn, FRAMES])})`;
  const times = (await page.evaluate(call)) as readonly number[];
  const tasks = (await tasksOf(session)).filter((task) => task >= 1);
  const late = times.filter((time) => time > 1.5 * FRAME_MS).length;
  return [
    {
      name: `${what}: frames`,
      value: 1000 / median(times)!,
      unit: '/s',
      goal: 60,
      note: `median of ${FRAMES}; ${late} were late, the longest ${quantile(times, 1)!.toFixed(0)} ms`,
    },
    {
      name: `${what}: a task, 95 %`,
      value: quantile(tasks, 0.95) ?? 0,
      unit: 'ms',
      goal: 16,
      note: `processor time of ${tasks.length} tasks of 1 ms and more; median ${(median(tasks) ?? 0).toFixed(1)} ms`,
    },
  ];
}

/** A run with the trace, as main would have stored it. @returns bytes of the trace's records */
async function storeTrace(home: GradwireHome): Promise<number> {
  const { database } = await openHome(resolveHome({ GRADWIRE_HOME: home.directory }));
  const store = RunStore.open(database);
  const random = xorshift(1);
  let bytes = 0;
  let sequence = 0;
  const append = (records: readonly RunRecord[]): void => {
    const entries = records.map((record) => ({ sequence: ++sequence, record }));
    store.records.append(RUN, entries);
  };
  try {
    const spec = sampleSpec({ world: { ranks: RANKS }, iterations: ITERATIONS });
    store.create({ id: RUN, spec, switches: [], createdAt: START });
    append([{ ...started, ranks: RANKS } as RunRecord]);
    for (let iteration = 0; iteration < ITERATIONS; iteration++) {
      for (let rank = 0; rank < RANKS; rank++) {
        const trace = tracedRing(rank, iteration, random);
        traceKind.schema.parse(trace);
        bytes += JSON.stringify(trace).length;
        append([recordOf(iteration, rank, RANKS, random), trace]);
      }
    }
    append([{ ...done, iterations: ITERATIONS } as RunRecord]);
  } finally {
    store.close();
  }
  return bytes;
}
