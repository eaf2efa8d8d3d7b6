/**
 * `gradwire bench network`: α and β between ranks, γ of the kernels and the collectives
 * themselves, measured by real processes, and kept in the home as what `auto` and
 * `gradwire plan` go by.
 */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { openHome } from '../../main/home/home.ts';
import { saveNetworkProfile } from '../../main/home/network-profile-file.ts';
import type { TimedCollective } from '../../shared/cost-model/timed-collective.ts';
import {
  medianPair,
  worstPair,
  type NetworkProfile,
} from '../../shared/cost-model/network-profile.ts';
import type { LinkCost } from '../../shared/cost-model/link-fit.ts';
import { textTable } from '../text/text-table.ts';

interface BenchNetworkOptions {
  readonly ranks: number;
  readonly transport: 'auto' | 'tcp' | 'native';
  readonly out?: string;
  readonly quick: boolean;
  readonly json: boolean;
}

const DEFAULT_RANKS = 4;
const MAXIMUM_RANKS = 64;
/** More pairs than fit a screen are summed up. */
const MOST_PAIRS_SHOWN = 15;
const K = 2 ** 10;
const M = 2 ** 20;

export function addBenchNetworkCommand(bench: Command): void {
  bench
    .command('network')
    .summary('measure latency and bandwidth between ranks, and kernel times')
    .description(
      'Measure what a message between ranks costs (α, β), each pair alone and all at ' +
        'once, how long kernels take per element (γ), and how long collectives take ' +
        'for vectors of a few shapes. The result is stored in the home; later runs and ' +
        'gradwire plan use it.',
    )
    .option('--ranks <count>', 'processes on this machine', parseRanks, DEFAULT_RANKS)
    .addOption(
      new Option('--transport <name>', 'transport between ranks')
        .choices(['auto', 'tcp', 'native'])
        .default('auto'),
    )
    .option('--out <file>', 'write the profile to this file instead of the home')
    .option('--quick', 'a rough profile: small vectors, few repetitions', false)
    .option('--json', 'print the profile as one line of JSON', false)
    .action(benchNetwork);
}

async function benchNetwork(options: BenchNetworkOptions): Promise<void> {
  const { ranks, transport, out, quick, json } = options;
  const file = out ?? (await openHome()).networkProfile;
  // Loaded here: no other command needs the engine.
  const { measureNetwork } = await import('../../agent/engine.ts');
  const seconds = quick ? 4 + 2 * ranks : 25 + 5 * ranks;
  process.stderr.write(`measuring ${ranks} ranks: some ${seconds} seconds\n`);
  const profile = await measureNetwork(ranks, transport, quick ? 'quick' : 'full');
  await saveNetworkProfile(file, profile);
  process.stdout.write(
    json
      ? `${JSON.stringify(profile)}\n`
      : `${describe(profile)}\nwritten to ${file}\n`,
  );
}

function describe(profile: NetworkProfile): string {
  const { pairs, loaded, kernels } = profile;
  const links: (readonly [string, LinkCost])[] = [
    ...(pairs.length > MOST_PAIRS_SHOWN
      ? []
      : pairs.map((pair) => [`${pair.ranks.join(' – ')} alone`, pair] as const)),
    ['median pair', medianPair(profile)],
    ['slowest pair', worstPair(profile)],
    ...loaded.map((load) => [`${load.ranks} ranks at once`, load] as const),
  ];
  const linkTable = textTable(
    [
      ['link', 'α µs', 'β ns/kB', 'GB/s'],
      ...links.map(([name, { alpha, beta }]) => [
        name,
        (alpha * 1e6).toFixed(1),
        (beta * 1e12).toFixed(0),
        beta === 0 ? '' : (1e-9 / beta).toFixed(2),
      ]),
    ],
    ['left', 'right', 'right', 'right'],
  );
  const kernelTable = textTable(
    [
      ['kernel', 'ns per element or entry'],
      ...Object.entries(kernels).map(([name, time]) => [name, (time * 1e9).toFixed(2)]),
    ],
    ['left', 'right'],
  );
  return [
    `${profile.transport}, ${profile.nodes.length} ranks`,
    linkTable,
    kernelTable,
    ...collectiveTables(profile),
    '',
  ].join('\n\n');
}

/** Of dense vectors and of sparse ones: a row for each collective, a column for each shape. */
function collectiveTables({ collectives = [] }: NetworkProfile): readonly string[] {
  const families = Map.groupBy(collectives, ({ nnz }) =>
    nnz === undefined ? 'dense' : 'sparse',
  );
  return [...families].map(([family, timed]) => {
    const shapes = Map.groupBy(timed, shapeName);
    const rows = Map.groupBy(timed, ({ collective }) => collective);
    return textTable(
      [
        [`${family}, µs`, ...shapes.keys()],
        ...[...rows].map(([collective, times]) => [
          collective,
          ...[...shapes.keys()].map((shape) => {
            const found = times.find((one) => shapeName(one) === shape);
            return found === undefined ? '' : (found.seconds * 1e6).toFixed(0);
          }),
        ]),
      ],
      ['left', ...[...shapes].map(() => 'right' as const)],
    );
  });
}

/** Elements, in powers of 1024 as the shapes are; of sparse vectors entries among them. */
function shapeName({ length, nnz }: TimedCollective): string {
  const [unit, name] = length >= M ? [M, 'M'] : length >= K ? [K, 'K'] : [1, ''];
  const elements = `${length / unit}${name}`;
  return nnz === undefined ? elements : `${nnz} of ${elements}`;
}

function parseRanks(text: string): number {
  const ranks = Number(text);
  if (!/^\d+$/.test(text) || ranks < 2 || ranks > MAXIMUM_RANKS) {
    throw new InvalidArgumentError(`It must be a number from 2 to ${MAXIMUM_RANKS}.`);
  }
  return ranks;
}
