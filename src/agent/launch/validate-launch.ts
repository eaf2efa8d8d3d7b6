/**
 * Checks a parsed spec and its switch schedule against everything this agent knows, before a
 * process is started: settings that do not fit each other, names, parameters, the data directory.
 */
import { checkLinks, checkPairs } from '../../shared/spec/emulated-links.ts';
import { inputError } from '../../shared/errors/errors.ts';
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
import { checkExclusions } from '../../shared/spec/key-rules.ts';
import { isProgram } from '../../shared/spec/program-spec.ts';
import type { SwitchRequest } from '../../shared/protocol/supervisor.ts';
import { asynchronousOf } from '../../shared/spec/parallelism/asynchronous.ts';
import {
  exchangeFrom,
  localStepsOf,
} from '../../shared/spec/parallelism/local-steps.ts';
import { pipelineOf, replicaCount } from '../../shared/spec/parallelism/pipeline.ts';
import { parallelismKind } from '../../shared/spec/parallelism/parallelism.ts';
import { checkParallelism, checkSplit, checkTorch } from './check-settings.ts';
import { LaunchMemory } from './launch-memory.ts';
import type { MomentumOwner, PlanSetting, Refusal } from '../plan/plan-setting.ts';
import { resolvePlan } from '../plan/resolve-plan.ts';
import { checkWorkload } from '../training/check-workload.ts';
import { mayHaveGpu } from '../training/create-trainer.ts';
import { isSynthetic } from '../training/synthetic/synthetic-workload.ts';
import { checkProgramSpec, requireEngines } from '../training/program-workload.ts';
import type { SpecFacts } from '../training/data-facts.ts';

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
  checkParallelism(parsed);
  checkProgramSpec(parsed);
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
