/**
 * `node bench/tracing.ts`: what looking costs a step. Iterations of a real run that are traced beside those
 * before and after them that are not, again and again; and the sums of buckets of an exchange, by
 * themselves. How to read it: docs/benchmarks.md.
 *
 * What would be noticed here: a trace that changes what it shows.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { BucketSums } from '../src/agent/exchange/bucket-sums.ts';
import type { Bucket } from '../src/agent/plan/buckets.ts';
import { PhaseClock } from '../src/agent/profile/phase-clock.ts';
import type { RunRecord } from '../src/shared/records/record-kinds.ts';
import { GradwireHome, succeeded } from '../tests/harness/gradwire.ts';
import { ofType } from '../tests/harness/records.ts';
import './parent.ts';
import { median, quantile } from './quantiles.ts';
import { printMeasurements, type Measurement } from './report.ts';

/** Iterations of one trace, and of each stretch beside it. */
const TRACED = 100;
/** Milliseconds from one order to the next: more than thrice as many iterations. */
const PAUSE = 8000;
const EXCHANGES = 20_000;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    ranks: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
  },
});

const sums = [await sumsCost(1), await sumsCost(50)];
printMeasurements([...(await tracedSteps()), ...sums], values.json);

async function tracedSteps(): Promise<readonly Measurement[]> {
  await using home = new GradwireHome();
  const settings = [
    ...[`world.ranks=${values.ranks}`, 'iterations=1000000', 'evaluateEvery=0'],
    ...['backend=wasm', 'exchange.method=topk', 'exchange.ratio=0.01'],
  ];
  succeeded(
    await home.run([
      ...['run', 'quickstart', '--detach'],
      ...settings.flatMap((setting) => ['--set', setting]),
    ]),
  );
  for (let round = 0; round < Number(values.rounds); round++) {
    // The command that orders it takes a processor, too: it has long ended.
    const order = ['runs', 'order', 'last', 'trace', `iterations=${TRACED}`];
    succeeded(await home.run(order));
    await sleep(PAUSE);
  }
  succeeded(await home.run(['runs', 'stop', 'last']));
  const out = path.join(home.directory, 'run.jsonl');
  succeeded(
    await home.run(['runs', 'export', 'last', '--format', 'jsonl', '--out', out]),
  );
  const records = recordsOf(readFileSync(out, 'utf8'));
  const walls = wallsOf(records);
  const ratios: number[] = [];
  const steps: number[] = [];
  for (const { from, to } of tracedIn(records)) {
    const beside = [
      ...walls.slice(from - TRACED, from),
      ...walls.slice(to, to + TRACED),
    ];
    const plain = median(beside.flat());
    steps.push(plain);
    ratios.push((100 * median(walls.slice(from, to).flat())) / plain - 100);
  }
  // A median alone would meet the goal by chance where traces differ by more than it.
  const [least, middle] = [0.25, 0.5].map((share) =>
    quantile(ratios, share).toFixed(1),
  );
  return [
    {
      name: 'a step that is not traced',
      value: median(steps),
      unit: 'ms',
      note: `FNN-3, ${values.ranks} ranks, top-k 1 %: median of ${steps.length} stretches`,
    },
    {
      name: 'tracing, upper quartile',
      value: quantile(ratios, 0.75),
      unit: '%',
      goal: 2,
      note: `longer steps, of ${ratios.length} traces of ${TRACED} iterations; median ${middle} %, lower quartile ${least} %`,
    },
  ];
}

/** The records of a run as JSON Lines, without its head. */
function recordsOf(lines: string): readonly RunRecord[] {
  const [, ...records] = lines.trimEnd().split('\n');
  return records.map((line) => JSON.parse(line) as RunRecord);
}

/** Stretches of iterations that were traced, as the run says. */
function tracedIn(records: readonly RunRecord[]) {
  return ofType(records, 'notice').flatMap(({ code, message }) => {
    if (code !== 'TRACED') return [];
    const [first, last] = message.match(/\d+/g)!.map(Number);
    return [{ from: first!, to: last! + 1 }];
  });
}

/** Wall times of all ranks by iteration. */
function wallsOf(records: readonly RunRecord[]): readonly (readonly number[])[] {
  const walls: number[][] = [];
  for (const { iteration, wall } of ofType(records, 'iteration')) {
    (walls[iteration] ??= []).push(wall);
  }
  return Array.from(walls, (times) => times ?? []);
}

/** Time that the sums of buckets take in an exchange, the records of intervals included. */
async function sumsCost(count: number): Promise<Measurement> {
  const buckets = Array.from({ length: count }, (_, index) => ({
    index,
    length: 1000,
    runs: [],
    tensors: [{ name: `layer${index}` }],
    policy: { method: { id: 'none', residual: 'none' }, parameters: {} },
  })) as unknown as readonly Bucket[];
  const site = { isInMemory: false } as ConstructorParameters<
    typeof BucketSums
  >[0]['site'];
  const summing = new BucketSums({ clock: new PhaseClock(), buckets, ranks: 2, site });
  const exchanged = buckets.map(({ index }) => ({
    index,
    statistics: { nnzLocal: 10, nnzReduced: 20 },
    payload: 80,
    collective: 'ring',
  }));
  const nothing = (): Promise<undefined> => Promise.resolve(undefined);
  let begin = 0;
  // The first half compiles it.
  for (let exchange = 0; exchange < 2 * EXCHANGES; exchange++) {
    if (exchange === EXCHANGES) begin = performance.now();
    summing.begin();
    for (let index = 0; index < count; index++) await summing.timed(index, nothing);
    summing.add(exchange, exchanged);
    if (summing.isDue) summing.close();
  }
  return {
    name: `sums of ${count} ${count === 1 ? 'bucket' : 'buckets'}`,
    value: (1000 * (performance.now() - begin)) / EXCHANGES,
    unit: 'µs',
    note: `of an exchange, mean of ${EXCHANGES}; without the pass over the residual at an interval’s end`,
  };
}
