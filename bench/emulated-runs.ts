/**
 * `node bench/emulated-runs.ts`: whole runs over emulated links beside the same runs over links
 * that the system shapes, a network namespace for each rank. Linux, root. How to read it:
 * docs/benchmarks.md.
 *
 * What would be noticed here: an emulation that promises a method more, or less, than the network
 * that it stands for.
 */
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { resolvePlan } from '../src/agent/plan/resolve-plan.ts';
import { rankResources } from '../src/agent/supervisor/runs/team-options.ts';
import { parseReport } from '../src/agent/world/line-message.ts';
import {
  RankProcess,
  type ProcessBroken,
  type ProcessExit,
} from '../src/agent/world/rank-process.ts';
import { milliseconds } from '../src/cli/text/quantities.ts';
import { reportError } from '../src/cli/text/report-error.ts';
import { textTable } from '../src/cli/text/text-table.ts';
import { GradwireError, inputError } from '../src/shared/errors/errors.ts';
import {
  parseExperimentSpec,
  type ExperimentSpec,
} from '../src/shared/spec/experiment-spec.ts';
import type { RankAddress } from '../src/shared/protocol/supervisor.ts';
import {
  fromWorkerSchema,
  type FromWorker,
  type ToWorker,
} from '../src/shared/protocol/worker.ts';
import type { IterationRecord } from '../src/shared/records/iteration.ts';
import { Links } from './collectives/links.ts';
import './parent.ts';
import { median, quantile } from './quantiles.ts';

const WORKER = path.join(import.meta.dirname, '../dist/agent/worker.js');
const RANKS = 4;
const METHODS = [
  { method: 'none', collective: 'ring' },
  { method: 'qsgd' },
  { method: 'topk', ratio: 0.01 },
  { method: 'a2sgd' },
];
/** Not counted: code is compiled, and TCP finds its window. */
const FIRST = 20;
/**
 * Burst of the shaped links, bytes. With the usual 128 KiB a payload of top-k is past the shaper before
 * it notices; a cable delays the first byte already.
 */
const BURST = 20_000;
const NETWORKS = ['shaped', 'emulated'] as const;
type Network = (typeof NETWORKS)[number];

try {
  await main();
} catch (error) {
  process.exitCode = reportError(error);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '5' },
      iterations: { type: 'string', default: '150' },
      json: { type: 'boolean', default: false },
    },
  });
  const rounds = wholeAbove(0, 'rounds', values.rounds);
  const iterations = wholeAbove(FIRST, 'iterations', values.iterations);
  const rows: string[][] = [];
  for (const exchange of METHODS) {
    const times: Record<Network, number[]> = { shaped: [], emulated: [] };
    const ratios: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const order = round % 2 === 0 ? NETWORKS : NETWORKS.toReversed();
      const medians: Partial<Record<Network, number>> = {};
      for (const network of order) {
        const walls = await train(network, exchange, iterations);
        times[network].push(...walls);
        medians[network] = median(walls);
      }
      ratios.push(medians.emulated! / medians.shaped!);
    }
    const line = {
      type: 'emulated-run',
      ranks: RANKS,
      links: '1gbit',
      ...exchange,
      shaped: median(times.shaped),
      emulated: median(times.emulated),
      ratio: median(ratios),
      ratios,
    };
    if (values.json) console.log(JSON.stringify(line));
    rows.push([
      exchange.method,
      ...NETWORKS.map(
        (network) =>
          `${milliseconds(median(times[network]))} (${quartiles(times[network])})`,
      ),
      line.ratio.toFixed(3),
      ratios.map((ratio) => ratio.toFixed(2)).join(' '),
    ]);
  }
  if (values.json) return;
  const head = ['method', ...NETWORKS, 'emulated / shaped', 'of each round'];
  console.log(textTable([head, ...rows], ['left', 'right', 'right', 'right', 'left']));
}

/** @throws GradwireError `BENCH_OPTION_INVALID` */
function wholeAbove(least: number, name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > least) return value;
  throw inputError('BENCH_OPTION_INVALID', `--${name} is "${text}"`, {
    next: `Give a whole number above ${least}.`,
  });
}

function quartiles(times: readonly number[]): string {
  return [0.25, 0.75].map((share) => milliseconds(quantile(times, share))).join(' to ');
}

/** Milliseconds of the iterations of all ranks. */
async function train(
  network: Network,
  exchange: Readonly<Record<string, unknown>>,
  iterations: number,
): Promise<readonly number[]> {
  const spec = parseExperimentSpec({
    workload: { model: 'fnn3', dataset: 'digits', batchPerRank: 32 },
    optimizer: { lr: 0.1 },
    world: { ranks: RANKS },
    exchange,
    iterations,
    evaluateEvery: 0,
    seed: 1,
    ...(network === 'emulated' ? { network: { bandwidth: '1 Gbit/s' } } : {}),
  });
  using links = new Links(network === 'shaped' ? '1gbit' : 'loopback', RANKS, {
    burst: BURST,
  });
  const records = await run(spec, links);
  return records.filter(({ iteration }) => iteration >= FIRST).map(({ wall }) => wall);
}

/** Does what a supervisor does: all ranks start, learn where the others are, and train. */
function run(spec: ExperimentSpec, links: Links): Promise<readonly IterationRecord[]> {
  return new Promise((resolve, reject) => {
    const records: IterationRecord[] = [];
    const addresses: RankAddress[] = [];
    let listening = 0;
    let left = RANKS;
    const workers: RankProcess<ToWorker, FromWorker>[] = [];
    const fail = (error: unknown): void => {
      for (const worker of workers) worker.kill();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    const receive = (
      rank: number,
      event: FromWorker | ProcessExit | ProcessBroken,
    ): void => {
      switch (event.type) {
        case 'listening':
          addresses[rank] = event.address;
          listening++;
          if (listening < RANKS) return;
          for (const worker of workers) worker.send({ type: 'begin', addresses });
          return;
        case 'records':
          for (const record of event.records) {
            if (record.type === 'iteration') records.push(record);
          }
          return;
        case 'failed':
        case 'broken':
          fail(new GradwireError(event.error));
          return;
        case 'exit':
          if (event.code !== 0) fail(`rank ${rank} ended: ${event.stderr}`);
          left--;
          if (left === 0) resolve(records);
          return;
        default:
      }
    };
    const plan = resolvePlan(spec.exchange, undefined, {});
    for (let rank = 0; rank < RANKS; rank++) {
      const command = {
        entry: WORKER,
        args: ['bench', String(rank)],
        prefix: links.prefix(rank),
      };
      const worker = new RankProcess<ToWorker, FromWorker>(
        rank,
        command,
        (event) => {
          receive(rank, event);
        },
        { parse: parseReport(fromWorkerSchema, rank) },
      );
      workers.push(worker);
      worker.send({
        type: 'configure',
        run: 'bench',
        rank,
        spec,
        plan,
        switches: [],
        secret: new Uint8Array(32),
        listen: links.host(rank),
        ...rankResources(spec, availableParallelism() / RANKS),
      });
    }
  });
}
