/**
 * `node bench/links.ts`: what `gradwire nodes network` measures of links whose speed is known,
 * because the system shapes them: two network namespaces, a process in either. Linux, root.
 * How to read it: docs/benchmarks.md.
 *
 * What would be noticed here: a shaper's burst taken for its rate, a stream that the window
 * of TCP holds back, and sealing that is slower than the link.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { bundledFile } from '../src/agent/bundle/bundled-file.ts';
import {
  fromRankSchema,
  type FromRank,
  type ToRank,
} from '../src/agent/probe/rank-protocol.ts';
import { RankWorld } from '../src/agent/world/rank-world.ts';
import { reportError } from '../src/cli/text/report-error.ts';
import { textTable } from '../src/cli/text/text-table.ts';
import type { LinkTiming } from '../src/shared/cost-model/link-timing.ts';
import { formatBitRate, formatDuration } from '../src/shared/words/units.ts';
import { RankNamespaces } from '../tests/harness/namespaces.ts';
import { median, quantile } from './quantiles.ts';
import './parent.ts';

const PROCESS = { bundle: 'probe-rank.js', source: '../src/agent/probe/rank-main.ts' };
/** The share that Ethernet, IP and TCP leave of a link for messages: as the kernel shapes it. */
const GOODPUT = 1448 / (1448 + 66);
const HEAD = [
  'link',
  'sealed',
  'for messages',
  'measured',
  'middle half',
  'off',
  'latency',
];
const RIGHT = HEAD.slice(1).map(() => 'right' as const);

const RATES = [100e6, 1e9, undefined] as const;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    json: { type: 'boolean', default: false },
  },
});

try {
  const rows: string[][] = [];
  for (const rate of RATES) {
    for (const encrypt of [false, true]) {
      const timings: LinkTiming[] = [];
      for (let round = 0; round < Number(values.rounds); round++) {
        timings.push(await measure(rate, encrypt));
      }
      if (values.json) {
        for (const timing of timings) {
          console.log(JSON.stringify({ type: 'link', rate, encrypt, ...timing }));
        }
      }
      rows.push(rowOf(rate, encrypt, timings));
    }
  }
  if (!values.json) console.log(textTable([HEAD, ...rows], ['left', ...RIGHT]));
} catch (error) {
  process.exitCode = reportError(error);
}

async function measure(
  rate: number | undefined,
  encrypt: boolean,
): Promise<LinkTiming> {
  using namespaces = new RankNamespaces({ ranks: 2, rate });
  const entry = bundledFile(PROCESS, import.meta.dirname);
  await using world = new RankWorld<ToRank, FromRank>({
    size: 2,
    reports: fromRankSchema,
    commandOf: (rank) => ({ entry, prefix: namespaces.prefix(rank) }),
  });
  const listening = await world.all('listening', (rank) => ({
    type: 'listen',
    rank,
    host: namespaces.hostOf(rank),
  }));
  const addresses = listening.map(({ address }) => address);
  const order = { type: 'time', addresses, run: 'bench', encrypt } as const;
  const secret = randomBytes(32);
  const [first] = await world.all('timed', () => ({ ...order, secret }));
  return first!.timing!;
}

function rowOf(
  rate: number | undefined,
  encrypt: boolean,
  timings: readonly LinkTiming[],
): string[] {
  const rates = timings.flatMap(({ there, back }) => [8 / there, 8 / back]);
  const seen = median(rates);
  const truth = rate === undefined ? undefined : rate * GOODPUT;
  const off = truth === undefined ? undefined : (100 * (seen - truth)) / truth;
  return [
    rate === undefined ? 'as fast as the kernel' : formatBitRate(rate),
    encrypt ? 'yes' : 'no',
    formatBitRate(truth),
    formatBitRate(seen),
    [0.25, 0.75].map((part) => formatBitRate(quantile(rates, part))).join(' to '),
    off === undefined ? '' : `${off.toFixed(1)} %`,
    formatDuration(1000 * median(timings.map(({ alpha }) => alpha))),
  ];
}
