/**
 * `gradwire bench network`: α and β between ranks, γ of the kernels and the collectives
 * themselves, measured by real processes on this computer or on another machine, and stored:
 * `auto` and `gradwire plan` use them.
 */
import { machineTitle } from '../../shared/machines/machine-names.ts';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { checkNetwork } from '../../main/cluster/network-check.ts';
import { openHome } from '../../main/home/home.ts';
import { saveNetworkProfile } from '../../main/home/network-profile-file.ts';
import type { TimedCollective } from '../../shared/cost-model/timed-collective.ts';
import {
  medianPair,
  worstPair,
  type NetworkProfile,
} from '../../shared/cost-model/network-profile.ts';
import type { LinkCost } from '../../shared/cost-model/link-fit.ts';
import { LOCAL_NODE } from '../../shared/machines/node-entry.ts';
import type { SupervisorRequests } from '../../shared/protocol/supervisor.ts';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { withWorkspace } from '../session/workspace.ts';
import { deployPrinter } from '../text/deploy-progress.ts';
import { textTable } from '../text/text-table.ts';

type Measurement = SupervisorRequests['measureNetwork']['request'];

interface BenchNetworkOptions extends ConnectFlags {
  readonly node?: string;
  readonly whileRunning: boolean;
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
  const command = bench
    .command('network')
    .summary('measure latency and bandwidth between ranks, and kernel times')
    .description(
      'Measure what a message between ranks costs (α, β), each pair alone and all at ' +
        'once, how long kernels take per element (γ), and how long collectives take ' +
        'for vectors of a few shapes: on this computer, or on another machine (--node). ' +
        'The result is stored; later runs there and gradwire plan use it.',
    )
    .option('--ranks <count>', 'processes on the machine', parseRanks, DEFAULT_RANKS)
    .option('--node <name>', 'measure on this machine; default: this computer')
    .addOption(
      new Option('--transport <name>', 'transport between ranks')
        .choices(['auto', 'tcp', 'native'])
        .default('auto'),
    )
    .option('--out <file>', 'write the profile to this file instead of storing it')
    .option('--quick', 'a rough profile: small vectors, few repetitions', false)
    .option(
      '--while-running',
      'with --node: measure even while runs are in progress: this disturbs them, and the result is not stored',
      false,
    )
    .option('--json', 'print the profile as one line of JSON', false);
  addConnectOptions(command).action(benchNetwork);
}

async function benchNetwork(options: BenchNetworkOptions): Promise<void> {
  const { ranks, transport, node, quick, json } = options;
  const request: Measurement = { ranks, transport, effort: quick ? 'quick' : 'full' };
  const seconds = quick ? 4 + 2 * ranks : 25 + 5 * ranks;
  const announce = (): void => {
    process.stderr.write(`measuring ${ranks} ranks: some ${seconds} seconds\n`);
  };
  // Minutes of measuring are shown before they are stored: a full disk does not lose them.
  const show = (profile: NetworkProfile): void => {
    process.stdout.write(`${json ? JSON.stringify(profile) : describe(profile)}\n`);
  };
  const stored =
    node === undefined || node === LOCAL_NODE
      ? await measureHere(request, options, announce, show)
      : await measureThere(node, request, options, announce, show);
  if (!json) process.stdout.write(`${stored}\n`);
}

/** @returns the profile's present place, in words */
async function measureHere(
  request: Measurement,
  { out }: BenchNetworkOptions,
  announce: () => void,
  show: (profile: NetworkProfile) => void,
): Promise<string> {
  const file = out ?? (await openHome()).networkProfile;
  // Loaded here: no other command needs the engine.
  const { measureNetwork } = await import('../../agent/engine.ts');
  announce();
  const profile = await measureNetwork(request);
  show(profile);
  await saveNetworkProfile(file, profile);
  return `written to ${file}`;
}

/**
 * @returns the profile's present place, in words
 * @throws GradwireError `NODE_UNKNOWN`, as `checkNetwork`
 */
async function measureThere(
  name: string,
  request: Measurement,
  { out, whileRunning, ...flags }: BenchNetworkOptions,
  announce: () => void,
  show: (profile: NetworkProfile) => void,
): Promise<string> {
  return await withWorkspace(
    async ({ store, coordinator }) => {
      const node = coordinator.machines.node(name);
      await node.connect();
      announce();
      const check = await checkNetwork(node, { request, whileRunning });
      const { profile, runs } = check;
      show(profile);
      if (out !== undefined) {
        await saveNetworkProfile(out, profile);
        return `written to ${out}`;
      }
      if (runs.length > 0) {
        return `not stored, because run ${runs[0]!.run} was in progress on ${machineTitle(name)}`;
      }
      store.facts.noteNetwork(node, profile);
      return `stored for ${machineTitle(name)}`;
    },
    { ...connectOptions(flags), progress: deployPrinter() },
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

/**
 * Makes tables of dense vectors and of sparse ones: a row for each collective, a column for
 * each shape.
 */
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
