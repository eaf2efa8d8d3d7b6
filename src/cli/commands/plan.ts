/**
 * `gradwire plan SPEC|PRESET`: what a step would take by every method and collective, for
 * any number of ranks, and whether compressing pays at all.
 */
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Candidate } from '../../agent/engine.ts';
import { openHome } from '../../main/home/home.ts';
import { loadNetworkProfile } from '../../main/home/network-profile-file.ts';
import { applySettings } from '../../main/spec/settings.ts';
import { withOwnFiles } from '../../main/spec/own-files.ts';
import { loadSpecSource } from '../../main/spec/spec-source.ts';
import { assignRanks, placesOf } from '../../shared/machines/rank-assignment.ts';
import {
  measuredLinks,
  networkOf,
  profilesOf,
  type Measured,
} from '../../main/runs/run-network.ts';
import {
  LOOPBACK,
  type NetworkCost,
  type LinkCost,
} from '../../shared/cost-model/network-cost.ts';
import type { NetworkProfile } from '../../shared/cost-model/network-profile.ts';
import {
  describeEmulated,
  emulatedNetwork,
} from '../../shared/machines/emulated-network.ts';
import { inputError } from '../../shared/errors/errors.ts';
import { assertForecastable } from '../../shared/spec/forecastable.ts';
import { serversText } from '../../shared/plan/exchange-plan.ts';
import {
  nodesOf,
  parseExperimentSpec,
  type ExperimentSpec,
} from '../../shared/spec/experiment-spec.ts';
import { LOCAL_NODE } from '../../shared/machines/node-entry.ts';
import { localStepsOf } from '../../shared/spec/parallelism/local-steps.ts';
import { formatBitRate, formatDuration } from '../../shared/words/units.ts';
import { measureComputeTime } from '../session/compute-time.ts';
import { withWorkspace } from '../session/workspace.ts';
import { bytes } from '../text/quantities.ts';
import { RepeatableOption } from '../text/option-repetition.ts';
import { textTable } from '../text/text-table.ts';
import { memoryText, plannedMemory } from './plan-memory.ts';
import { planRates } from './plan-rates.ts';

interface PlanOptions {
  readonly set: readonly string[];
  readonly ranks?: readonly number[];
  readonly network?: string;
  readonly compute?: number;
  readonly all: boolean;
  readonly rates?: string;
  readonly json: boolean;
}

/** Costs of rings are sums over all ranks: more would take minutes. */
const MAXIMUM_RANKS = 1_000_000;

export function addPlanCommand(program: Command): void {
  program
    .command('plan')
    .summary('predict the time of a step for every method')
    .description(
      'Predict how long a training step would take with every method and collective, for ' +
        'any number of ranks, from the measured network (gradwire bench network), the ' +
        'speed of the methods on this machine, and the model’s compute time.',
    )
    .argument('<spec>', 'a YAML or JSON file, - for stdin, or the name of a preset')
    .addOption(
      new RepeatableOption(
        '--set <key=value>',
        'change the spec, for example world.ranks=2; repeatable',
      ).default([], ''),
    )
    .option(
      '--ranks <counts>',
      'numbers of ranks, such as 8,64,1024; default: the spec’s',
      parseCounts,
    )
    .option('--network <file>', 'a profile from bench network; default: the home’s')
    .option(
      '--compute <ms>',
      'compute time of a step; default: measured in a short run',
      parseMilliseconds,
    )
    .option('--all', 'show every collective of every method, not only its best', false)
    .addOption(
      new Option(
        '--rates <method>',
        'instead of predicting: a compression rate for each layer from its multiply-adds, and the exchange section to paste into a spec; for example scalecom',
      ).conflicts(['ranks', 'network', 'compute', 'all']),
    )
    .option('--json', 'one JSON object per line', false)
    .action(plan);
}

async function plan(name: string, options: PlanOptions): Promise<void> {
  const { raw, place } = await loadSpecSource(name);
  const parsed = parseExperimentSpec(applySettings(raw, options.set), place);
  const spec = await withOwnFiles(parsed, process.cwd());
  if (options.rates !== undefined)
    return await planRates(spec, options.rates, options.json);
  assertForecastable(spec);
  const ranks = options.ranks ?? [spec.world.ranks];
  const { networkOf, origin } = await findNetwork(options.network, spec);
  const computeOrigin =
    options.compute === undefined ? 'measured with one rank on this computer' : 'given';
  const compute = options.compute ?? (await measureComputeTime(spec)) * 1000;
  // Loaded here: no other command needs the engine.
  const { forecastSpec, inspectSpec, specMemory, stepMemory } =
    await import('../../agent/engine.ts');
  const known = await inspectSpec(spec);
  const step = await stepMemory(spec, known);
  const memory = specMemory(spec, ranks, known, step).map((each) =>
    plannedMemory(each, nodesOf(spec)),
  );
  const candidates = await forecastSpec({
    spec,
    ranks,
    known,
    networkOf,
    placesOf: (count) => placesOf(assignRanks(count, spec.world.nodes)),
    compute: compute / 1000,
  });
  if (options.json) {
    const basis = {
      type: 'basis',
      compute,
      computeOrigin,
      network: origin,
      constants: ranks.map((count) => ({ ranks: count, ...networkOf(count) })),
    };
    const lines = [
      basis,
      ...candidates.map(asLine),
      ...ranks.map((count) => verdictLine(ofRanks(candidates, count), count)),
      ...memory.map((each) => ({ type: 'memory', ...each })),
    ];
    process.stdout.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    return;
  }
  process.stdout.write(
    `${spec.name}: ${formatDuration(compute)} of computation per step (${computeOrigin}); ` +
      `network: ${origin}; no overlap is assumed${shareText(spec)}\n`,
  );
  for (const [which, count] of ranks.entries()) {
    const shown = ofRanks(candidates, count);
    process.stdout.write(
      `\n${table(options.all ? shown : bestOfEach(shown))}\n` +
        `${verdictLine(shown, count).text}\n${memoryText(memory[which]!)}\n`,
    );
  }
}

/** Says what the columns are where ranks do not exchange in every step. */
function shareText(spec: ExperimentSpec): string {
  const local = localStepsOf(spec);
  if (local === undefined) return '';
  return `; one exchange every ${local.every} steps, its time spread over them`;
}

interface Network {
  readonly networkOf: (ranks: number) => NetworkCost;
  readonly origin: string;
}

/**
 * Finds the network as a launch would hand it to the ranks. What the spec would have emulated
 * takes what it does not say from the real one.
 * @throws GradwireError `NODE_UNKNOWN`
 */
async function findNetwork(
  file: string | undefined,
  spec: ExperimentSpec,
): Promise<Network> {
  const names = nodesOf(spec);
  const { links, ...found } = await findMeasured(names, file);
  const profiles = found.profiles;
  const networkFor = (ranks: number): NetworkCost =>
    networkOf(spec, ranks, { profiles, links }) ?? LOOPBACK;
  const within =
    file === undefined ? withinText(names, profiles, found.file) : `measured (${file})`;
  const origin =
    spec.network === undefined
      ? originOf(names, links, within)
      : describeEmulated(emulatedNetwork(spec.network));
  return { networkOf: networkFor, origin };
}

interface Found extends Measured {
  /** The file with this computer's profile, or with one for all machines. */
  readonly file: string;
}

async function findMeasured(
  names: readonly string[],
  given: string | undefined,
): Promise<Found> {
  const file = given ?? (await openHome()).networkProfile;
  const own = await loadNetworkProfile(file);
  if (given !== undefined && own === undefined) {
    throw inputError('NETWORK_PROFILE_UNREADABLE', `there is no file ${file}`, {
      place: file,
      next: 'Measure one: gradwire bench network --out FILE.',
    });
  }
  const [only, ...others] = names;
  // No machine has to be known for a file that was named, or for this computer.
  if (others.length === 0 && (given !== undefined || only === LOCAL_NODE)) {
    const profiles = own === undefined ? [] : [[only!, own] as const];
    return { profiles: new Map(profiles), links: undefined, file };
  }
  return await withWorkspace(({ store, coordinator }) => {
    const nodes = names.map((name) => coordinator.machines.node(name));
    // A file that was named may have been measured anywhere.
    const profiles =
      given === undefined
        ? profilesOf(store.facts, nodes, own)
        : new Map(names.map((name) => [name, own!]));
    return Promise.resolve({
      profiles,
      links: measuredLinks(store.links, nodes),
      file,
    });
  });
}

function originOf(
  names: readonly string[],
  links: LinkCost | undefined,
  within: string,
): string {
  if (names.length === 1) return within;
  const between =
    links === undefined
      ? 'not measured between machines; Gigabit Ethernet is assumed (measure with gradwire nodes network)'
      : `measured between machines: the slowest links have ${formatBitRate(8 / links.beta)} ` +
        `and ${formatDuration(1000 * links.alpha)}`;
  return `${between}; within them ${within}`;
}

function withinText(
  names: readonly string[],
  profiles: ReadonlyMap<string, NetworkProfile>,
  file: string,
): string {
  const measured = names.filter((name) => profiles.has(name));
  if (measured.length === 0) {
    const remote = names.find((name) => name !== LOCAL_NODE);
    const command =
      remote === undefined || names.includes(LOCAL_NODE)
        ? 'gradwire bench network'
        : `gradwire bench network --node ${remote}`;
    return `not measured; loopback constants are assumed (measure with ${command})`;
  }
  const places = measured.map((name) => (name === LOCAL_NODE ? file : `on ${name}`));
  return `measured (${places.join(', ')})`;
}

/** Milliseconds, as everywhere in JSON. */
function asLine(candidate: Candidate): object {
  const { compute, compress, exchange, decompress, step, ...rest } = candidate;
  return {
    type: 'candidate',
    ...rest,
    compute: 1000 * compute,
    compress: 1000 * compress,
    exchange: 1000 * exchange,
    decompress: 1000 * decompress,
    step: 1000 * step,
    pays: candidate.speedup > 1,
  };
}

interface Verdict {
  readonly type: 'verdict';
  readonly ranks: number;
  readonly compress: boolean;
  readonly method: string;
  readonly collective: string;
  readonly speedup: number;
  readonly text: string;
}

/** @param candidates fastest first */
function verdictLine(candidates: readonly Candidate[], ranks: number): Verdict {
  const [best] = candidates as readonly [Candidate, ...Candidate[]];
  const dense = candidates.find(({ uncompressed }) => uncompressed)!;
  const own = candidates.find((candidate) => candidate.own)!;
  const compress = best.speedup > 1;
  const advice = compress
    ? `compress: ${best.method} over ${collectiveText(best)} is predicted to take ` +
      `${seconds(best.step)} a step instead of ${seconds(dense.step)} ` +
      `(${best.speedup.toFixed(2)} times as fast)`
    : `do not compress: no method is predicted to beat ${collectiveText(dense)}, ` +
      `${seconds(dense.step)} a step`;
  const ownAdvice =
    own === best || own.step === dense.step
      ? ''
      : own.speedup > 1
        ? `; the spec’s ${own.method} is predicted to be ${own.speedup.toFixed(2)} times as fast`
        : `; the spec’s ${own.method} would take ${seconds(own.step)}`;
  const { method, collective, speedup } = best;
  return {
    type: 'verdict',
    ranks,
    compress,
    method,
    collective,
    speedup,
    text: `${ranks} rank${ranks === 1 ? '' : 's'}, ${advice}${ownAdvice}`,
  };
}

const ofRanks = (candidates: readonly Candidate[], ranks: number): Candidate[] =>
  candidates.filter((candidate) => candidate.ranks === ranks);

/** The first of each method and of the spec's plan: candidates come fastest first. */
function bestOfEach(candidates: readonly Candidate[]): readonly Candidate[] {
  const seen = new Set<string>();
  return candidates.filter(({ method, own }) => {
    const key = own ? 'own' : method;
    return !seen.has(key) && seen.add(key);
  });
}

function table(candidates: readonly Candidate[]): string {
  const header = [
    'method',
    'collective',
    'step',
    'compress',
    'exchange',
    'decompress',
    'sent',
    'bound by',
    'against dense',
  ];
  const rows = candidates.map((candidate) => [
    `${candidate.method}${candidate.own ? ' *' : ''}`,
    collectiveText(candidate),
    seconds(candidate.step),
    seconds(candidate.compress),
    seconds(candidate.exchange),
    seconds(candidate.decompress),
    bytes(candidate.wireBytes),
    candidate.bound,
    candidate.uncompressed && candidate.speedup === 1
      ? 'baseline'
      : `${candidate.speedup.toFixed(2)} ×`,
  ]);
  const [left, right] = ['left', 'right'] as const;
  return textTable(
    [header, ...rows],
    [left, left, right, right, right, right, right, left, right],
  );
}

const collectiveText = ({ collective, servers }: Candidate): string =>
  servers === undefined ? collective : `${collective}, ${serversText(servers)}`;

const seconds = (time: number): string => formatDuration(1000 * time);

function parseCounts(text: string): readonly number[] {
  const counts = text.split(',').map(Number);
  if (!/^\d+(,\d+)*$/.test(text) || counts.some((n) => n < 1 || n > MAXIMUM_RANKS)) {
    throw new InvalidArgumentError(
      `They must be numbers of ranks up to ${MAXIMUM_RANKS}, such as 8,64,1024.`,
    );
  }
  return [...new Set(counts)];
}

function parseMilliseconds(text: string): number {
  const time = Number(text);
  if (text.trim() === '' || !(time >= 0) || time > 1e9) {
    throw new InvalidArgumentError('It must be a time in milliseconds.');
  }
  return time;
}
