/**
 * `gradwire plan SPEC|PRESET`: what a step would take by every method and collective, for
 * any number of ranks, and whether compressing pays at all.
 */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { openHome } from '../../main/home/home.ts';
import { loadNetworkProfile } from '../../main/home/network-profile-file.ts';
import { measureComputeTime } from '../../main/plan/compute-time.ts';
import { Forecaster } from '../../main/plan/forecaster.ts';
import type { MeasuredNetwork } from '../../main/plan/plan-network.ts';
import { planStep } from '../../main/plan/plan-step.ts';
import { applySettings } from '../../main/spec/settings.ts';
import { loadSpecSource, withOwnFiles } from '../../main/spec/spec-source.ts';
import { measuredLinks, profilesOf } from '../../main/runs/run-network.ts';
import { inputError } from '../../shared/errors/errors.ts';
import { bestOfEach, type Candidate } from '../../shared/forecast/candidate.ts';
import { MOST_ELEMENTS } from '../../shared/forecast/forecast-question.ts';
import { MOST_PLANNED_RANKS } from '../../shared/forecast/plan-request.ts';
import { collectiveText } from '../../shared/forecast/plan-verdict.ts';
import { memoryText } from '../../shared/forecast/planned-memory.ts';
import type { StepPlan } from '../../shared/forecast/step-plan.ts';
import { LOCAL_NODE } from '../../shared/machines/node-entry.ts';
import { nodesOf, parseExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { readCountText } from '../../shared/words/count-text.ts';
import { formatCount, formatDuration } from '../../shared/words/units.ts';
import { useHomeUnits } from '../session/home-units.ts';
import { withHistory, withWorkspace } from '../session/workspace.ts';
import { bytes } from '../text/quantities.ts';
import { RepeatableOption } from '../text/option-repetition.ts';
import { textTable } from '../text/text-table.ts';
import { planRates } from './plan-rates.ts';

interface PlanOptions {
  readonly set: readonly string[];
  readonly ranks?: readonly number[];
  readonly network?: string;
  readonly compute?: number;
  readonly machines?: number;
  readonly parameters?: number;
  readonly rehearse: boolean;
  readonly all: boolean;
  readonly rates?: string;
  readonly json: boolean;
}

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
    .option(
      '--machines <n>',
      'equal machines that share the ranks; default: those of the spec',
      parseMachines,
    )
    .option(
      '--parameters <n>',
      'parameters of the model, such as 25M, its tensors in proportion; default: its own',
      parseParameterCount,
    )
    .option('--rehearse', 'time the methods again that were timed before', false)
    .option('--all', 'show every collective of every method, not only its best', false)
    .addOption(
      new Option(
        '--rates <method>',
        'instead of predicting: a compression rate for each layer from its multiply-adds, and the exchange section to paste into a spec; for example scalecom',
      ).conflicts([
        'ranks',
        'network',
        'compute',
        'machines',
        'parameters',
        'rehearse',
        'all',
      ]),
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
  const home = await openHome();
  useHomeUnits(home);
  using forecaster = new Forecaster(home);
  const { network, ranks, compute, machines, parameters, rehearse } = options;
  const planned = await planStep(
    spec,
    { ranks, compute, machines, parameters, rehearse },
    {
      forecaster,
      measured: (subject) => findMeasured(nodesOf(subject), network),
      computeTime: async (subject) => ({
        seconds: await withWorkspace((workspace) =>
          measureComputeTime(subject, workspace),
        ),
        origin: 'measured with one rank on this computer',
      }),
    },
  );
  process.stdout.write(options.json ? planLines(planned) : planText(planned, options));
}

function planLines({
  compute,
  computeOrigin,
  elements,
  network,
  worlds,
}: StepPlan): string {
  const basis = {
    type: 'basis',
    compute,
    computeOrigin,
    network,
    parameters: elements,
    constants: worlds.map((world) => ({ ranks: world.ranks, ...world.network })),
  };
  const lines = [
    basis,
    ...worlds.flatMap(({ candidates }) => candidates.map(asLine)),
    ...worlds.map(({ verdict }) => verdict),
    ...worlds.map(({ memory }) => ({ type: 'memory', ...memory })),
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

function planText(
  { compute, computeOrigin, elements, every, name, network, worlds }: StepPlan,
  { all, parameters }: PlanOptions,
): string {
  const size = parameters === undefined ? '' : `${formatCount(elements)} parameters; `;
  const share =
    every === undefined
      ? ''
      : `; one exchange every ${every} steps, its time spread over them`;
  const head =
    `${name}: ${size}${formatDuration(compute)} of computation per step (${computeOrigin}); ` +
    `network: ${network}; no overlap is assumed${share}\n`;
  const tables = worlds.map(
    ({ candidates, memory, verdict }) =>
      `\n${table(all ? candidates : bestOfEach(candidates))}\n` +
      `${verdict.text}\n${memoryText(memory)}\n`,
  );
  return head + tables.join('');
}

/**
 * Finds the measurements of a spec's machines.
 * @throws GradwireError `NODE_UNKNOWN`, `NETWORK_PROFILE_UNREADABLE`
 */
async function findMeasured(
  names: readonly string[],
  given: string | undefined,
): Promise<MeasuredNetwork> {
  const file = given ?? (await openHome()).networkProfile;
  const isGiven = given !== undefined;
  const own = await loadNetworkProfile(file);
  if (isGiven && own === undefined) {
    throw inputError('NETWORK_PROFILE_UNREADABLE', `there is no file ${file}`, {
      place: file,
      next: 'Measure one: gradwire bench network --out FILE.',
    });
  }
  const [only, ...others] = names;
  // No machine has to be known for a file that was named, or for this computer.
  if (others.length === 0 && (isGiven || only === LOCAL_NODE)) {
    const profiles = own === undefined ? [] : [[only!, own] as const];
    return { profiles: new Map(profiles), links: undefined, file, isGiven };
  }
  return await withHistory(({ store, coordinator }) => {
    const nodes = names.map((name) => coordinator.machines.node(name));
    // A file that was named may have been measured anywhere.
    const profiles = isGiven
      ? new Map(names.map((name) => [name, own!]))
      : profilesOf(store.facts, nodes, own);
    return Promise.resolve({
      profiles,
      links: measuredLinks(store.links, nodes),
      allotted: nodes.some(({ slurm }) => slurm !== undefined),
      file,
      isGiven,
    });
  });
}

/** Milliseconds, as everywhere in JSON. */
function asLine(candidate: Candidate): object {
  const { compute, compress, exchange, decompress, step, terms } = candidate;
  const { collective, label, method, ranks, servers } = candidate;
  const { bound, own, payloadBytes, speedup, uncompressed, wireBytes } = candidate;
  return {
    type: 'candidate',
    ranks,
    method,
    label,
    collective,
    ...(servers === undefined ? {} : { servers }),
    payloadBytes,
    wireBytes,
    bound,
    own,
    uncompressed,
    speedup,
    compute: 1000 * compute,
    compress: 1000 * compress,
    exchange: 1000 * exchange,
    decompress: 1000 * decompress,
    step: 1000 * step,
    latency: 1000 * terms.latency,
    bandwidth: 1000 * terms.bandwidth,
    reduction: 1000 * terms.reduction,
    pays: speedup > 1,
  };
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

const seconds = (time: number): string => formatDuration(1000 * time);

function parseCounts(text: string): readonly number[] {
  const counts = text.split(',').map(Number);
  if (
    !/^\d+(,\d+)*$/.test(text) ||
    counts.some((n) => n < 1 || n > MOST_PLANNED_RANKS)
  ) {
    throw new InvalidArgumentError(
      `They must be numbers of ranks up to ${MOST_PLANNED_RANKS}, such as 8,64,1024.`,
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

function parseMachines(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > MOST_PLANNED_RANKS) {
    throw new InvalidArgumentError('It must be a number of machines from 1 on.');
  }
  return count;
}

function parseParameterCount(text: string): number {
  const count = readCountText(text);
  if (count === undefined || count < 1 || count > MOST_ELEMENTS) {
    throw new InvalidArgumentError(
      'It must be a number up to 1G, such as 199210, 500k or 25M.',
    );
  }
  return count;
}
