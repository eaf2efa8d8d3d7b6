/**
 * Replays a stored run under another exchange, network or number of ranks, for a page as for a
 * command; and the iterations before each of its switches under the plan that followed, to say how
 * wrong that would have been.
 */
import { inputError } from '../../shared/errors/errors.ts';
import type { Candidate } from '../../shared/forecast/candidate.ts';
import type { ForecastAnswer } from '../../shared/forecast/forecast-question.ts';
import {
  calibrate,
  MODEL_ERROR,
  replay,
  toldNetwork,
  wallOf,
  type RecordedStep,
  type Replay,
} from '../../shared/forecast/replay.ts';
import { whatIfText } from './what-if-text.ts';
import {
  FEWEST_REPLAYED,
  REPLAYED,
  type ForetoldSwitch,
  type WhatIf,
  type WhatIfRequest,
} from '../../shared/forecast/what-if.ts';
import {
  describePlan,
  PLAN_KEYS,
  planAsExchange,
  type ExchangePlan,
} from '../../shared/plan/exchange-plan.ts';
import type { JsonValue } from '../../shared/checks/json.ts';
import type { SwitchRecord } from '../../shared/records/switch.ts';
import { MOST_TENSORS, type TensorsRecord } from '../../shared/records/tensors.ts';
import { linkSpecSchema } from '../../shared/machines/emulated-network.ts';
import type { RunDetail } from '../../shared/rpc/run-summary.ts';
import { assertForecastable } from '../../shared/spec/forecastable.ts';
import { localStepsOf } from '../../shared/spec/parallelism/local-steps.ts';
import { isProgram } from '../../shared/spec/program-spec.ts';
import { formatBytes, formatCount } from '../../shared/words/units.ts';
import type { RunStore } from '../store/run-store.ts';
import { requireMachines } from './idle-machines.ts';
import { planNetwork } from './plan-network.ts';
import type { PlanParts } from './plan-step.ts';
import { recordedSteps } from './recorded-steps.ts';

/** Iterations after a start or a fence that are left out: they compile, or pay for the change. */
const SETTLING = 5;
/** Iterations on each side of a switch. */
const BESIDE_SWITCH = 50;
/** Newest switches that are looked at. */
const MOST_SWITCHES = 10;

interface Stretch {
  readonly plan: ExchangePlan;
  readonly from: number;
  readonly to: number;
}

/**
 * @throws GradwireError `RUN_UNKNOWN`, `WHAT_IF_MISFIT`, `WHAT_IF_TOO_FEW`, `PLAN_PIPELINE`,
 * `PARALLELISM_MISFIT`; what is wrong with the change
 */
export async function whatIf(
  store: RunStore,
  request: WhatIfRequest,
  { forecaster, measured }: Pick<PlanParts, 'forecaster' | 'measured'>,
): Promise<WhatIf> {
  const detail = store.reads.shown(request.run);
  const { spec } = detail;
  const tensors = requireReplayable(detail);
  const stretches = stretchesOf(detail);
  const last = stretches.at(-1);
  const steps =
    last === undefined ? [] : stepsOf(store, detail, last, request.iterations);
  if (last === undefined || steps.length < FEWEST_REPLAYED) {
    throw inputError(
      'WHAT_IF_TOO_FEW',
      `run ${detail.id} has ${steps.length} iterations to replay; ${FEWEST_REPLAYED} are needed`,
      { place: detail.id, next: 'Wait, or choose a longer run.' },
    );
  }
  if (tensors !== undefined) requireWholeAverages(store, detail, steps, tensors);
  const known = await measured(spec);
  const ranks = request.ranks ?? spec.world.ranks;
  requireMachines([ranks], request.machines);
  const own = planNetwork(spec, known);
  const other = planNetwork(
    {
      ...spec,
      network:
        request.network === undefined
          ? spec.network
          : linkSpecSchema.parse(request.network),
    },
    known,
    request.machines,
  );
  const switches = eventsOf(detail, 'switch').slice(-MOST_SWITCHES);
  const answer = await forecaster.ask({
    spec: { ...spec, exchange: planAsExchange(last.plan) },
    worlds: [own.worldOf(spec.world.ranks), other.worldOf(ranks)],
    compute: 0,
    exchanges: [
      changed(last.plan, request.change ?? {}),
      ...switches.flatMap(({ from, to }) => [
        planAsExchange(from as ExchangePlan),
        planAsExchange(to as ExchangePlan),
      ]),
    ],
    tensors,
    memory: false,
    allotted: known.allotted,
    rehearse: false,
  });
  const foretold = switches.flatMap((record, index) => {
    const [from, to] = [
      chosen(answer, 0, 2 * index + 2),
      chosen(answer, 0, 2 * index + 3),
    ];
    return foretell(store, detail, stretches, record, from, to) ?? [];
  });
  const modelError = Math.max(
    MODEL_ERROR,
    ...foretold.map(({ before, error, observed, predicted }) => {
      const added = Math.abs(predicted.mean - before);
      return added === 0 ? 0 : Math.min(1, Math.abs(error * observed) / added);
    }),
  );
  const [before, after] = [chosen(answer, 0, 0), chosen(answer, 1, 1)];
  const shown = calibrate(steps, before);
  const isTold = request.network !== undefined || request.machines !== undefined;
  const played = replay(steps, before, after, isTold ? toldNetwork(shown) : shown, {
    error: modelError,
    isAlone: ranks === 1,
  });
  return {
    ...described(detail, played, [before, after]),
    from: describePlan(last.plan),
    to: `${after.label}, ${after.collective}`,
    networks: [own.origin, other.origin],
    steps: { recorded: steps, replayed: played.steps },
    switches: foretold,
    modelError,
  };
}

function described(
  { id, name, spec }: RunDetail,
  played: Replay,
  [before, after]: readonly [Candidate, Candidate],
): Omit<WhatIf, 'from' | 'modelError' | 'networks' | 'steps' | 'switches' | 'to'> {
  const { change, recorded, replayed, steps } = played;
  return {
    run: id,
    name,
    ranks: [before.ranks, after.ranks],
    first: steps[0]!.iteration,
    last: steps.at(-1)!.iteration,
    recorded,
    replayed,
    change,
    payloadBytes: [before.payloadBytes, after.payloadBytes],
    // A program that is observed has its own.
    collectives: [
      spec.workload.observe === true ? 'own' : before.collective,
      after.collective,
    ],
    text: whatIfText(played, after),
  };
}

/** The prediction of a plan in a world, by the collective that it names or `auto` takes. */
const chosen = ({ worlds }: ForecastAnswer, world: number, plan: number): Candidate =>
  worlds[world]!.find((one) => one.plan === plan && one.chosen)!;

/**
 * Checks that the run can be replayed; returns the tensors of a program.
 * @throws GradwireError `WHAT_IF_MISFIT`; as `assertForecastable`
 */
function requireReplayable(detail: RunDetail): TensorsRecord['tensors'] | undefined {
  const { id, spec } = detail;
  assertForecastable(spec);
  const told = eventsOf(detail, 'tensors').at(-1);
  const why =
    spec.overlap === true || spec.doubleBuffer === true
      ? 'hides its exchanges behind computation, and its records do not tell compression from that'
      : localStepsOf(spec) !== undefined
        ? 'exchanges only every few iterations'
        : isProgram(spec.workload) && told === undefined
          ? `is a program that has not told its tensors: it was recorded by an older version, did not get that far, has models that step in turns, or more than ${MOST_TENSORS} tensors`
          : undefined;
  if (why === undefined) return told?.tensors;
  throw inputError('WHAT_IF_MISFIT', `run ${id} cannot be replayed: it ${why}`, {
    place: id,
    next: 'Choose a run of synchronous training without overlap.',
  });
}

/**
 * Checks that an observed program averages its first model once in each step, and by itself.
 * @throws GradwireError `WHAT_IF_MISFIT`
 */
function requireWholeAverages(
  store: RunStore,
  { id, spec }: RunDetail,
  steps: readonly RecordedStep[],
  tensors: TensorsRecord['tensors'],
): void {
  if (spec.workload.observe !== true) return;
  const { iteration } = steps.at(-1)!;
  const range = { from: iteration, to: iteration + 1 };
  const [entry] = store.reads.iterations(id, range, 1).entries;
  const { dense = 0, payload } = entry?.record.bytes ?? {};
  const elements = tensors.reduce(
    (sum, { shape }) => sum + shape.reduce((product, size) => product * size, 1),
    0,
  );
  if (dense === 4 * elements && payload !== undefined) return;
  const why =
    payload === undefined
      ? 'communicates by a hook of its own, and what that sends is not known'
      : `averages ${formatBytes(dense)} in a step, where its first model has ${formatCount(elements)} elements`;
  throw inputError(
    'WHAT_IF_MISFIT',
    `run ${id} cannot be replayed: its program ${why}`,
    {
      place: id,
      next: 'Let the program join, and replay that run.',
    },
  );
}

type EventOf<T> = Extract<RunDetail['events'][number], { readonly type: T }>;

const eventsOf = <T extends RunDetail['events'][number]['type']>(
  { events }: RunDetail,
  type: T,
): readonly EventOf<T>[] =>
  events.filter((event): event is EventOf<T> => event.type === type);

/** The plans of a run with their iterations, in order. */
function stretchesOf(detail: RunDetail): readonly Stretch[] {
  const [started] = eventsOf(detail, 'started');
  if (started === undefined) return [];
  const switches = eventsOf(detail, 'switch');
  const plans = [started.plan, ...switches.map(({ to }) => to)];
  const fences = [0, ...switches.map(({ fence }) => fence), detail.iterations];
  return plans.map((plan, index) => ({
    plan: plan as ExchangePlan,
    from: fences[index]!,
    to: fences[index + 1]!,
  }));
}

function stepsOf(
  store: RunStore,
  { id, spec }: RunDetail,
  { from, to }: Pick<Stretch, 'from' | 'to'>,
  most = REPLAYED,
): readonly RecordedStep[] {
  const first = Math.max(from + SETTLING, to - most);
  if (first >= to) return [];
  const range = { from: first, to };
  return recordedSteps(store, id, spec.world.ranks, range, isProgram(spec.workload));
}

/** The exchange after a change, as a switch would make it: another method drops parameters. */
function changed(
  plan: ExchangePlan,
  change: Readonly<Record<string, JsonValue>>,
): Record<string, JsonValue> {
  const exchange = planAsExchange(plan) as Record<string, JsonValue>;
  const method = change['method'];
  const kept =
    method === undefined || method === plan.method
      ? exchange
      : Object.fromEntries(
          Object.entries(exchange).filter(
            ([key]) => key !== 'layers' && PLAN_KEYS.some((known) => known === key),
          ),
        );
  return { ...kept, ...change };
}

function foretell(
  store: RunStore,
  detail: RunDetail,
  stretches: readonly Stretch[],
  { fence, from, to }: SwitchRecord,
  own: Candidate,
  other: Candidate,
): ForetoldSwitch | undefined {
  const before = stretches.find((stretch) => stretch.to === fence);
  const after = stretches.find((stretch) => stretch.from === fence);
  if (before === undefined || after === undefined) return undefined;
  const recorded = stepsOf(store, detail, before, BESIDE_SWITCH);
  const end = Math.min(after.to, after.from + SETTLING + BESIDE_SWITCH);
  const followed = stepsOf(store, detail, { from: after.from, to: end }, BESIDE_SWITCH);
  if (recorded.length < FEWEST_REPLAYED || followed.length < FEWEST_REPLAYED)
    return undefined;
  const played = replay(recorded, own, other, calibrate(recorded, own));
  const observed =
    followed.reduce((sum, step) => sum + wallOf(step), 0) / followed.length;
  return {
    fence,
    from: describePlan(from as ExchangePlan),
    to: describePlan(to as ExchangePlan),
    before: played.recorded.mean,
    predicted: played.replayed,
    observed,
    error: played.replayed.mean / observed - 1,
  };
}
