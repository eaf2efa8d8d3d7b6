/**
 * Checks a parsed spec and its switch schedule against everything this agent knows, before a
 * process is started: settings that do not fit each other, names, parameters, the data directory.
 */
import { checkLinks, checkPairs } from '../../shared/spec/emulated-links.ts';
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import {
  planAsExchange,
  type ExchangePlan,
  type PlanSwitch,
} from '../../shared/plan/exchange-plan.ts';
import {
  experimentSpecSchema,
  type ExperimentSpec,
  type ParsedSpec,
} from '../../shared/spec/experiment-spec.ts';
import { checkExclusions, checkNeeds } from '../../shared/spec/key-rules.ts';
import { modelName } from '../../shared/spec/model-name.ts';
import { isProgram } from '../../shared/spec/program-spec.ts';
import type { SwitchRequest } from '../../shared/protocol/supervisor.ts';
import { nearest } from '../../shared/words/nearest.ts';
import { asynchronousOf } from '../../shared/spec/parallelism/asynchronous.ts';
import type { Misfit } from '../../shared/spec/parallelism/kind.ts';
import {
  exchangeFrom,
  localStepsOf,
} from '../../shared/spec/parallelism/local-steps.ts';
import {
  parallelismKind,
  parallelismMisfits,
  splitMisfits,
} from '../../shared/spec/parallelism/parallelism.ts';
import {
  pipelineOf,
  replicaCount,
  SPLIT,
} from '../../shared/spec/parallelism/pipeline.ts';
import { LaunchMemory } from './launch-memory.ts';
import type { MomentumOwner, PlanSetting, Refusal } from '../plan/plan-setting.ts';
import { resolvePlan } from '../plan/resolve-plan.ts';
import { checkWorkload } from '../training/check-workload.ts';
import { mayHaveGpu } from '../training/create-trainer.ts';
import { isSynthetic } from '../training/synthetic/synthetic-workload.ts';
import type { LayerFacts } from '../training/model-facts.ts';
import { checkProgramSpec, requireEngines } from '../training/program-workload.ts';
import type { SpecFacts } from '../training/data-facts.ts';
import { isRegistered, splittableModels } from '../training/workload-catalogue.ts';

/** The optimiser after the exchange, with local steps. */
const OUTER: MomentumOwner = {
  name: 'the outer optimiser of local steps',
  next: 'Use another method, or parallelism.kind: synchronous.',
};

/** The optimiser of the servers. */
const SERVERS: MomentumOwner = {
  name: 'a server of asynchronous training',
  next: 'Use another method, or parallelism.kind: synchronous.',
};

/** Explains why a residual cannot be kept in units of updates, if it cannot. */
function noUpdates(
  spec: Pick<ExperimentSpec, 'optimizer' | 'parallelism'>,
  movesOtherwise: string | undefined,
): Refusal | undefined {
  const { withoutUpdates } = parallelismKind(spec);
  if (withoutUpdates !== undefined) return withoutUpdates;
  if (movesOtherwise === undefined) return undefined;
  return {
    message: `${movesOtherwise} does not change weights by the learning rate times the gradient`,
    next: 'Remove residualUnits, or use the optimizer sgd.',
  };
}

interface LaunchParts {
  readonly spec: ExperimentSpec;
  readonly plan: ExchangePlan;
  /** Switches in the order in which they take effect; epochs 1, 2, … */
  readonly switches: readonly PlanSwitch[];
  /** The context for resolving later switches. */
  readonly setting: PlanSetting;
  /** Memory that the ranks need. */
  readonly memory: LaunchMemory;
  /** Iterations that go over all training samples once; undefined if there are none. */
  readonly iterationsPerPass: number | undefined;
  /** A notice about the data, if any. */
  readonly notice?: string | undefined;
}

/** Marks what `validateLaunch` has returned: a private member, which a literal cannot have. */
declare class Checked {
  private readonly checked: true;
}

/** A launch that has been checked: `validateLaunch` returns it, and nothing else makes one. */
export type Launch = LaunchParts & Checked;

/** The place of the ranks. */
interface RanksPlace {
  /** Whether a scheduler allots their machines: this one’s hardware does not tell what they have. */
  readonly allotted?: boolean | undefined;
}

/**
 * @param known facts already read (`inspectSpec`)
 * @param place default: the ranks run here, some of them at least
 * @throws GradwireError the first problem
 */
export function validateLaunch(
  parsed: ParsedSpec,
  requests: readonly SwitchRequest[] = [],
  known?: SpecFacts,
  { allotted = false }: RanksPlace = {},
): Launch {
  checkPairs(parsed);
  checkLinks(parsed);
  checkExclusions(experimentSpecSchema, parsed);
  requireNone('PARALLELISM_MISFIT', parallelismMisfits(parsed));
  requireNone('PIPELINE_MISFIT', splitMisfits(parsed));
  checkProgramSpec(parsed);
  checkNeeds(experimentSpecSchema, parsed);
  checkTorch(parsed);
  if (requests.length > 0) requireEngines(parsed, 'switch');
  const replicas = replicaCount(parsed.world.ranks, parsed);
  const checked = checkWorkload(parsed.workload, parsed.optimizer, replicas, known);
  const { features, layers, notice, tensors } = checked;
  checkSplit(parsed, layers);
  const { momentum } = parsed.optimizer;
  const local = localStepsOf(parsed);
  const pushes = asynchronousOf(parsed) !== undefined;
  const setting = {
    tensors,
    momentum,
    pushes,
    ranks: replicas,
    isPipeline: pipelineOf(parsed) !== undefined,
    // Methods count exchanges.
    iterationsPerPass: checked.iterationsPerPass / (local?.every ?? 1),
    ownMomentum: local === undefined ? (pushes ? SERVERS : checked.ownMomentum) : OUTER,
    // With local steps the decay is part of their move.
    weightDecay: local === undefined ? checked.weightDecay : 0,
    noUpdates: noUpdates(parsed, checked.movesOtherwise),
  };
  const plan = resolvePlan(parsed.exchange, undefined, setting);
  // The spec as it will run: every parameter of the method is written out.
  const workload = features === undefined ? {} : { features };
  const spec: ExperimentSpec = {
    ...parsed,
    // Ranks on other machines must not count differently.
    workload: { ...parsed.workload, ...workload },
    exchange: planAsExchange(plan),
  };
  const switches = resolveSchedule(plan, requests, spec, setting);
  const memory = new LaunchMemory({
    spec,
    layers,
    facts: checked.memory,
    mayHaveGpu: allotted || mayHaveGpu(),
    plans: [plan, ...switches.map((change) => change.plan)],
  });
  memory.requireArenas();
  const iterationsPerPass = hasSamples(parsed) ? checked.iterationsPerPass : undefined;
  const parts: LaunchParts = {
    spec,
    plan,
    switches,
    setting,
    memory,
    iterationsPerPass,
    notice,
  };
  return parts as Launch;
}

const hasSamples = ({ workload }: ExperimentSpec): boolean =>
  !isProgram(workload) && !isSynthetic(workload);

/** @throws GradwireError of the first misfit */
function requireNone(
  code: 'PARALLELISM_MISFIT' | 'PIPELINE_MISFIT',
  [first]: readonly Misfit[],
): void {
  if (first === undefined) return;
  const { message, next, place } = first;
  throw inputError(code, message, { place, next });
}

/**
 * Checks whether the model can be split there.
 * @param layers of the model; undefined if they have no names
 * @throws GradwireError `PIPELINE_MISFIT`, `SPLIT_UNKNOWN`
 */
function checkSplit(
  spec: ExperimentSpec,
  layers: readonly LayerFacts[] | undefined,
): void {
  const pipeline = pipelineOf(spec);
  if (pipeline === undefined) return;
  const { model: id, modelSource } = spec.workload;
  const model = modelName(id);
  const { splitAfter, stages } = pipeline;
  if (layers === undefined) {
    throw unsplittable(
      'workload.model',
      `${model} cannot be split: its layers have no names`,
      modelSource === undefined
        ? `Use ${splittableModels().join(', ')}, or your own model made of layers (docs/models.md).`
        : 'Write it as layers; see docs/models.md.',
    );
  }
  const names = layers.map(({ name }) => name);
  const last = names.at(-1)!;
  const unknown = splitAfter.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const meant = nearest(unknown, names);
    throw inputError('SPLIT_UNKNOWN', `${model} has no layer "${unknown}"`, {
      place: SPLIT,
      next:
        meant === undefined
          ? `Its layers: ${names.join(', ')}.`
          : `Did you mean "${meant}"? Its layers: ${names.join(', ')}.`,
    });
  }
  if (names.length === 1) {
    throw unsplittable(
      SPLIT,
      `${model} has only one layer and cannot be split`,
      'Remove the pipeline, or give the model several layers.',
    );
  }
  if (splitAfter.includes(last)) {
    throw unsplittable(
      SPLIT,
      stages > names.length
        ? `${model} has ${names.length} layers, too few for ${stages} stages`
        : `there is no layer after "${last}"`,
      `Split after one of: ${names.slice(0, -1).join(', ')}.`,
    );
  }
  const places = splitAfter.map((name) => names.indexOf(name));
  if (places.some((place, i) => i > 0 && place < places[i - 1]!)) {
    const inOrder = names.filter((name) => splitAfter.includes(name));
    throw unsplittable(
      SPLIT,
      'the layers are not in the model’s order',
      `Write ${JSON.stringify(inOrder)}.`,
    );
  }
  requireOwnTensors(layers, places);
}

/**
 * A stage trains the tensors that no stage before it uses.
 * @param ends positions of the layers after which the model is split
 */
function requireOwnTensors(
  layers: readonly LayerFacts[],
  ends: readonly number[],
): void {
  const before = new Set<string>();
  for (const [stage, first] of [0, ...ends.map((end) => end + 1)].entries()) {
    const ofStage = layers.slice(first, (ends[stage] ?? layers.length - 1) + 1);
    const used = ofStage.flatMap(({ tensors }) => tensors);
    if (used.every((name) => before.has(name))) {
      throw unsplittable(
        SPLIT,
        `the stage that starts with "${ofStage[0]!.name}" has nothing to train: ` +
          `all its tensors belong to earlier stages`,
        `Do not split after "${layers[first - 1]!.name}".`,
      );
    }
    for (const name of used) before.add(name);
  }
}

const unsplittable = (place: string, message: string, next: string): GradwireError =>
  inputError('PIPELINE_MISFIT', message, { place, next });

/**
 * Checks whether PyTorch can compute it (`backend: torch`).
 * @throws GradwireError `TORCH_MISFIT`
 */
function checkTorch(spec: ExperimentSpec): void {
  const { backend, workload } = spec;
  if (backend !== 'torch') return;
  if (isProgram(workload)) {
    throw noTorch('backend', 'a program computes by itself', 'Remove backend.');
  }
  if (isSynthetic(workload)) {
    throw noTorch('backend', 'a synthetic gradient is not computed', 'Remove backend.');
  }
  const model = modelName(workload.model);
  if (workload.modelSource !== undefined || isRegistered(workload.model)) {
    throw noTorch(
      'backend',
      `${model} is a model of your own, written for jax-js`,
      'Use backend: auto, or a built-in model. A model in PyTorch is trained as a program ' +
        '(docs/pytorch.md).',
    );
  }
  if ((asynchronousOf(spec)?.trainerThreads ?? 1) > 1) {
    throw noTorch(
      'parallelism.trainerThreads',
      'a rank has one process with PyTorch, which computes one gradient at a time',
      'Remove it, or use backend: wasm.',
    );
  }
}

const noTorch = (place: string, message: string, next: string): GradwireError =>
  inputError('TORCH_MISFIT', message, { place, next });

function resolveSchedule(
  plan: ExchangePlan,
  requests: readonly SwitchRequest[],
  spec: ExperimentSpec,
  setting: PlanSetting,
): readonly PlanSwitch[] {
  let before = plan;
  return requests
    .toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0))
    .map(({ change, at = 0, residual = 'flush' }, index) => {
      assertReached(at, spec);
      const epoch = index + 1;
      before = resolvePlan(change, before, { ...setting, epoch });
      return { epoch, notBefore: at, plan: before, residual };
    });
}

/** @throws GradwireError `SWITCH_TOO_LATE`: a switch that would never take effect */
export function assertReached(
  at: number,
  spec: Pick<ExperimentSpec, 'iterations' | 'parallelism'>,
): void {
  const { iterations } = spec;
  const every = localStepsOf(spec)?.every ?? 1;
  // After the last exchange that is followed by iterations.
  const last = every * (exchangeFrom(iterations, spec) - 1);
  if (at <= last) return;
  const exchanges = every === 1 ? '' : ` and exchanges every ${every}`;
  throw inputError(
    'SWITCH_TOO_LATE',
    `a switch is scheduled for iteration ${at}, but the run has ${iterations}${exchanges}`,
    { place: 'switch', next: `Give an iteration below ${last + 1}.` },
  );
}
