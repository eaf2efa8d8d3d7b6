/**
 * The forecast of a spec: its own plan and every other method with default parameters, by
 * every collective that can carry it, for some numbers of ranks.
 */
import { z } from 'zod';
import { checkedOptions, functionSchema } from '../../shared/checks/checked-options.ts';
import { networkCostSchema } from '../../shared/cost-model/network-cost-schema.ts';
import type { Candidate } from '../../shared/forecast/candidate.ts';
import type { ForecastWorld } from '../../shared/forecast/forecast-question.ts';
import type { NetworkCost } from '../../shared/cost-model/network-cost.ts';
import { isAutomatic } from '../../shared/plan/exchange-plan.ts';
import {
  parseExperimentSpec,
  type ExperimentSpec,
  type ParsedSpec,
} from '../../shared/spec/experiment-spec.ts';
import { assertForecastable } from '../../shared/spec/forecastable.ts';
import { localStepsOf } from '../../shared/spec/parallelism/local-steps.ts';
import { assertPlaces } from '../collectives/ranks-by-node.ts';
import { ARENA_BYTES } from '../memory/arena.ts';
import { planBuckets, type Bucket, type FlatTensor } from '../plan/buckets.ts';
import { resolvePlan } from '../plan/resolve-plan.ts';
import { compresses } from '../plan/tensor-policy.ts';
import { fitsWhole, windowsOf } from '../plan/windows.ts';
import { validateLaunch } from '../launch/validate-launch.ts';
import { specFactsSchema } from '../training/inspect/inspections.ts';
import { inspectSpec } from '../training/inspect/inspect-spec.ts';
import type { SpecFacts } from '../training/data-facts.ts';
import { modelTensors, placedTensors } from './model-tensors.ts';
import { offeredPlans, replacesMomentum } from './offered-plans.ts';
import { scaledTensors } from './scaled-tensors.ts';
import { rehearse, type Rehearsal } from './rehearsal.ts';
import { forecastPlan, type RehearsedPlan } from './step-forecast.ts';

export interface SpecForecastOptions {
  readonly spec: ExperimentSpec;
  readonly ranks: readonly number[];
  /** The constants of a world of this many ranks. */
  readonly networkOf: (ranks: number) => NetworkCost;
  /** The node of each rank in a world of this size; default: all are on one. */
  readonly placesOf?: ((ranks: number) => readonly number[] | undefined) | undefined;
  /** Seconds of the model's computation in a step. */
  readonly compute: number;
  /** Facts already read; default: they are read. */
  readonly known?: SpecFacts | undefined;
}

const optionsSchema = z.strictObject({
  spec: z.unknown(),
  ranks: z.array(z.int().min(1)).min(1).readonly(),
  networkOf: functionSchema<SpecForecastOptions['networkOf']>(),
  placesOf: functionSchema<NonNullable<SpecForecastOptions['placesOf']>>().optional(),
  compute: z.number().min(0),
  known: specFactsSchema.optional(),
});

/** Checks what the functions say of a world of this size, before anything is measured. */
function settingFor(
  ranks: number,
  { networkOf, placesOf }: Pick<SpecForecastOptions, 'networkOf' | 'placesOf'>,
): ForecastWorld {
  const network = checkedOptions(
    networkCostSchema,
    networkOf(ranks),
    `forecastSpec: networkOf(${ranks})`,
  );
  const places = placesOf?.(ranks);
  if (places !== undefined) assertPlaces(places, ranks);
  return { ranks, network, places };
}

/**
 * Fastest first, by number of ranks.
 * @throws GradwireError `OPTION_INVALID`, `PLACES_INVALID`; if the spec is invalid
 */
export async function forecastSpec(
  options: SpecForecastOptions,
): Promise<readonly Candidate[]> {
  const checked = checkedOptions(optionsSchema, options, 'forecastSpec');
  const parsed = parseExperimentSpec(checked.spec);
  const worlds = checked.ranks.map((count) => settingFor(count, checked));
  const known = checked.known ?? (await inspectSpec(parsed));
  const { compute } = checked;
  const found = await forecastWorlds(parsed, { compute, known, rehearse, worlds });
  return found.candidates.flat();
}

interface WorldsForecastOptions {
  readonly worlds: readonly ForecastWorld[];
  /** Seconds of the model's computation in a step. */
  readonly compute: number;
  readonly known: SpecFacts;
  /** Whether a scheduler allots the machines; default: they are like this one. */
  readonly allotted?: boolean | undefined;
  /** Exchanges to predict beside the spec's own; default: every method with its defaults. */
  readonly exchanges?: readonly Readonly<Record<string, unknown>>[] | undefined;
  /** Elements of the gradient; default: the model's own. */
  readonly elements?: number | undefined;
  /** Tensors of a program of one's own; default: those of the spec's model. */
  readonly tensors?: readonly Pick<FlatTensor, 'name' | 'shape'>[] | undefined;
  /** Finds the time that a plan's compressors take. */
  readonly rehearse: (buckets: readonly Bucket[]) => Promise<Rehearsal>;
}

interface WorldsForecast {
  /** Candidates of each world, fastest first. */
  readonly candidates: readonly (readonly Candidate[])[];
  /** Elements of the gradient. */
  readonly elements: number;
}

/** @throws GradwireError if the spec or an exchange is invalid, or cannot be predicted */
export async function forecastWorlds(
  parsed: ParsedSpec,
  options: WorldsForecastOptions,
): Promise<WorldsForecast> {
  const { allotted, compute, exchanges, known, worlds } = options;
  const checked = validateLaunch(parsed, [], known, { allotted });
  const { plan, setting, spec } = checked;
  assertForecastable(spec);
  const given = options.tensors && placedTensors(options.tensors);
  const tensors = scaledTensors(
    given ?? modelTensors(spec, known.model),
    options.elements,
  );
  const local = localStepsOf(spec);
  const plans =
    exchanges === undefined
      ? offeredPlans(plan)
          .filter((one) => local === undefined || !replacesMomentum(one))
          .filter(
            (one, index) => index === 0 || hasRoom(planBuckets(tensors, one), spec),
          )
      : [plan, ...exchanges.map((each) => resolvePlan(each, undefined, setting))];
  const rehearsed: RehearsedPlan[] = [];
  for (const candidate of plans) {
    const buckets = planBuckets(tensors, candidate);
    rehearsed.push({
      plan: candidate,
      buckets,
      ...(await options.rehearse(buckets)),
    });
  }
  const candidates = worlds.map((world) => {
    const place = { ...world, compute, every: local?.every };
    const steps = rehearsed.flatMap((one, index) =>
      forecastPlan(one, place).map(({ namedOnly, ...step }, which) => ({
        ...step,
        plan: index,
        label: one.plan.label ?? one.plan.method,
        chosen: which === 0,
        // Leaves out collectives that must be named.
        own: index === 0 && !(namedOnly && isAutomatic(plan.collective)),
        uncompressed: !compresses(one.plan),
      })),
    );
    const dense = steps.filter(({ uncompressed }) => uncompressed);
    const baseline = dense.length > 0 ? dense : steps.filter(({ own }) => own);
    const reference = Math.min(...baseline.map(({ step }) => step));
    return steps
      .map((step) => ({ ...step, speedup: reference / step.step }))
      .sort((a, b) => a.step - b.step);
  });
  const elements = tensors.reduce((sum, { length }) => sum + length, 0);
  return { candidates, elements };
}

/** Whether an arena has room for these buckets, in windows or without. */
function hasRoom(buckets: readonly Bucket[], { world }: ExperimentSpec): boolean {
  const setting = { arenaBytes: ARENA_BYTES, ranks: world.ranks };
  return fitsWhole(buckets, setting) || windowsOf(buckets, setting) !== undefined;
}
