/**
 * `node bench/hierarchical.ts`: the hierarchical collectives beside all flat ones, on nodes
 * of several ranks with one shaped link each: a network namespace a node, its ranks in it.
 * Linux, root. How to read it: docs/benchmarks.md.
 *
 * What would be noticed here: bytes that cross a link twice, a link that idles while a node
 * reduces, and a cost that would have `auto` take a flat algorithm.
 */
import { parseArgs } from 'node:util';
import { reportError } from '../src/cli/text/report-error.ts';
import { milliseconds } from '../src/cli/text/quantities.ts';
import { textTable } from '../src/cli/text/text-table.ts';
import { collectivesFor, findCollective } from '../src/agent/collectives/registry.ts';
import { BETWEEN_NODES, LOOPBACK } from '../src/shared/cost-model/network-cost.ts';
import { inputError } from '../src/shared/errors/errors.ts';
import { BenchWorld } from './collectives/bench-world.ts';
import { contest, type Outcome, type VectorShape } from './collectives/contest.ts';
import { LINK_NAMES, Links, type LinkName } from './collectives/links.ts';
import { median, quantile } from './quantiles.ts';
import './parent.ts';

interface Options {
  /** Ranks of each node. */
  readonly nodes: readonly number[];
  readonly links: LinkName;
  /** N, elements. */
  readonly length: number;
  /** k/N of sparse vectors. */
  readonly densities: readonly number[];
  readonly rounds: number;
  /** Flat algorithms to compare with; default: all. */
  readonly only: readonly string[] | undefined;
  readonly json: boolean;
}

/** One algorithm on one shape. */
interface Line {
  readonly type: 'hierarchical';
  readonly links: string;
  readonly nodes: readonly number[];
  readonly n: number;
  readonly k?: number | undefined;
  readonly collective: string;
  readonly ms: number;
  /** The middle half of the repetitions. */
  readonly quartiles: readonly [number, number];
  readonly repetitions: number;
  readonly predictedMs: number;
  /** The gain of the hierarchical one over this one, by medians. */
  readonly gain: number;
  readonly auto: boolean;
}

const REPETITIONS = 4;
/** The share that Ethernet, IP and TCP leave of a link for messages. */
const GOODPUT = 0.941;
const WHAT = { nodes: 'ranks of each node, as 4,4', length: 'a number of elements' };

try {
  await main(readOptions(process.argv.slice(2)));
} catch (error) {
  process.exitCode = reportError(error);
}

async function main(options: Options): Promise<void> {
  const { nodes, length, densities, rounds, only, json } = options;
  const places = nodes.flatMap((ranks, node) => new Array<number>(ranks).fill(node));
  const shapes: readonly VectorShape[] = [
    { length },
    ...densities.map((density) => ({ length, count: Math.ceil(density * length) })),
  ];
  using links = new Links(options.links, places.length, { places });
  await using world = await BenchWorld.start({
    ranks: places.length,
    links,
    transport: 'auto',
    places,
  });
  // Within nodes what `auto` assumes where nothing was measured, as in a run on several nodes.
  const between = {
    alpha: BETWEEN_NODES.alpha,
    beta: links.rate === undefined ? LOOPBACK.beta : 8 / (GOODPUT * links.rate),
  };
  const stage = { world, peers: [], network: { ...LOOPBACK, between } };
  for (const shape of shapes) {
    const schedule = { rounds, repetitions: REPETITIONS, batch: 1, dataSets: 3 };
    const kind = shape.count === undefined ? 'dense' : 'sparse';
    const ids = collectivesFor(kind)
      .filter(({ partial }) => partial !== true)
      .map(({ id }) => id)
      .filter((id) => isHierarchical(id) || (only?.includes(id) ?? true));
    const lines = linesOf(options, await contest(stage, shape, schedule, ids));
    if (json) for (const line of lines) console.log(JSON.stringify(line));
    else
      console.log(`${titleOf(options, shape, world.transport)}\n${tableOf(lines)}\n`);
  }
}

function isHierarchical(id: string): boolean {
  return findCollective(id).forNodes === true;
}

function linesOf(
  { links, nodes }: Options,
  { shape, contestants }: Outcome,
): readonly Line[] {
  const hierarchical = contestants.find(({ collective }) =>
    isHierarchical(collective),
  )!;
  const own = median(hierarchical.times);
  return contestants
    .map(({ collective, times, predictedMs, auto }) => ({
      type: 'hierarchical' as const,
      links,
      nodes,
      n: shape.length,
      k: shape.count,
      collective,
      ms: median(times),
      quartiles: [quantile(times, 0.25), quantile(times, 0.75)] as const,
      repetitions: times.length,
      predictedMs,
      gain: median(times) / own,
      auto,
    }))
    .toSorted((a, b) => a.ms - b.ms);
}

function titleOf(
  { links, nodes }: Options,
  { length, count }: VectorShape,
  transport: string,
): string {
  const entries = count === undefined ? '' : `, ${count} entries a rank`;
  return `${nodes.join(' + ')} ranks, ${links} a node, ${length} elements${entries}, over ${transport}`;
}

function tableOf(lines: readonly Line[]): string {
  const rows = lines.map(({ collective, ms, quartiles, predictedMs, gain, auto }) => [
    collective,
    milliseconds(ms),
    quartiles.map(milliseconds).join(' to '),
    `${gain.toFixed(2)}`,
    milliseconds(predictedMs),
    auto ? 'auto' : '',
  ]);
  return textTable(
    [
      ['algorithm', 'median', 'middle half', 'over hierarchical', 'predicted', ''],
      ...rows,
    ],
    ['left', 'right', 'right', 'right', 'right', 'left'],
  );
}

/** @throws GradwireError `BENCH_OPTION_INVALID` */
function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      nodes: { type: 'string', default: '4,4' },
      links: { type: 'string', default: '1gbit' },
      length: { type: 'string', default: String(4 * 2 ** 20) },
      densities: { type: 'string', default: '0.01' },
      rounds: { type: 'string', default: '10' },
      only: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const links = LINK_NAMES.find((name) => name === values.links);
  if (links === undefined) throw invalid('links', values.links, LINK_NAMES.join(', '));
  return {
    links,
    nodes: values.nodes.split(',').map((text) => whole('nodes', text, WHAT.nodes)),
    length: whole('length', values.length, WHAT.length),
    densities: values.densities
      .split(',')
      .filter((text) => text !== '')
      .map((text) => {
        const density = Number(text);
        if (density > 0 && density <= 1) return density;
        throw invalid('densities', text, 'numbers above 0, up to 1, as 0.001,0.01');
      }),
    rounds: whole('rounds', values.rounds, 'how often all take turns'),
    only: values.only?.split(','),
    json: values.json,
  };
}

function whole(name: string, text: string, what: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw invalid(name, text, what);
}

function invalid(name: string, value: string, what: string): Error {
  return inputError('BENCH_OPTION_INVALID', `--${name} is "${value}"`, {
    next: `It is: ${what}.`,
  });
}
