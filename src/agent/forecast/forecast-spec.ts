/**
 * The forecast of a spec: its own plan and every other method with default parameters, by
 * every collective that can carry it, for some numbers of ranks.
 */
import { z } from 'zod';
import { checkedOptions, functionSchema } from '../../shared/checks/checked-options.ts';
import { networkCostSchema } from '../../shared/cost-model/network-cost-schema.ts';
import type { NetworkCost } from '../../shared/cost-model/network-cost.ts';
import { isAutomatic, type ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import {
  parseExperimentSpec,
  type ExperimentSpec,
} from '../../shared/spec/experiment-spec.ts';
import { assertForecastable } from '../../shared/spec/forecastable.ts';
import { localStepsOf } from '../../shared/spec/parallelism/local-steps.ts';
import { assertPlaces } from '../collectives/ranks-by-node.ts';
import { methods } from '../methods/registry.ts';
import { planBuckets, type FlatTensor } from '../plan/buckets.ts';
import { resolvePlan } from '../plan/resolve-plan.ts';
import { compresses } from '../plan/tensor-policy.ts';
import { validateLaunch } from '../launch/validate-launch.ts';
import { tensorLength } from '../training/models/model.ts';
import { specFactsSchema } from '../training/inspect/inspections.ts';
import { inspectSpec } from '../training/inspect/inspect-spec.ts';
import {
  isSynthetic,
  syntheticWorkload,
} from '../training/synthetic/synthetic-workload.ts';
import type { SpecFacts } from '../training/data-facts.ts';
import { findWorkload } from '../training/find-workload.ts';
import type { ModelFacts } from '../training/model-facts.ts';
import { rehearse } from './rehearsal.ts';
import {
  forecastPlan,
  type RehearsedPlan,
  type StepForecast,
} from './step-forecast.ts';

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

export interface Candidate extends StepForecast {
  /** Whether it is the spec's own plan, or a form that `auto` may choose. */
  readonly own: boolean;
  /** Whether gradients are sent uncompressed: the baseline for the others. */
  readonly uncompressed: boolean;
  /**
   * Step time of the best uncompressed exchange divided by this one's; compression pays
   * above 1.
   */
  readonly speedup: number;
}

const optionsSchema = z.strictObject({
  spec: z.unknown(),
  ranks: z.array(z.int().min(1)).min(1).readonly(),
  networkOf: functionSchema<SpecForecastOptions['networkOf']>(),
  placesOf: functionSchema<NonNullable<SpecForecastOptions['placesOf']>>().optional(),
  compute: z.number().min(0),
  known: specFactsSchema.optional(),
});

interface World {
  readonly ranks: number;
  readonly network: NetworkCost;
  readonly places: readonly number[] | undefined;
}

/** Checks what the functions say of a world of this size, before anything is measured. */
function settingFor(
  ranks: number,
  { networkOf, placesOf }: Pick<SpecForecastOptions, 'networkOf' | 'placesOf'>,
): World {
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
  const { ranks, compute } = checked;
  const parsed = parseExperimentSpec(checked.spec);
  const settings = ranks.map((count) => settingFor(count, checked));
  const known = checked.known ?? (await inspectSpec(parsed));
  const { plan, spec } = validateLaunch(parsed, [], known);
  assertForecastable(spec);
  const tensors = tensorsOf(spec, known.model);
  const rehearsed: RehearsedPlan[] = [];
  const local = localStepsOf(spec);
  const fitting = plansOf(plan).filter(
    ({ method }) =>
      local === undefined || methods.get(method)!.replacesMomentum === undefined,
  );
  for (const candidate of fitting) {
    const buckets = planBuckets(tensors, candidate);
    rehearsed.push({ plan: candidate, buckets, ...(await rehearse(buckets)) });
  }
  return settings.flatMap((world) => {
    const setting = { ...world, compute, every: local?.every };
    const steps = rehearsed.flatMap((one) =>
      forecastPlan(one, setting).map(({ namedOnly, ...step }) => ({
        ...step,
        // Leaves out collectives that must be named.
        own: one.plan === plan && !(namedOnly && isAutomatic(plan.collective)),
        uncompressed: !compresses(one.plan),
      })),
    );
    const dense = Math.min(
      ...steps.filter(({ uncompressed }) => uncompressed).map(({ step }) => step),
    );
    return steps
      .map((step) => ({ ...step, speedup: dense / step.step }))
      .sort((a, b) => a.step - b.step);
  });
}

/**
 * The spec's own, then all methods with their defaults, each once; uncompressed exchanges are
 * always included, even if the spec changes `none`. A method that moves only part of the
 * weights is a different algorithm, not a compression of this one: it is included only if the
 * spec uses it.
 */
function plansOf(own: ExchangePlan): readonly ExchangePlan[] {
  const { bucketBytes } = own;
  const isBaseline = !compresses(own) && isAutomatic(own.collective);
  const others = [...methods.values()]
    .filter(({ id, movesPart, uncompressed }) =>
      uncompressed === true ? !isBaseline : id !== own.method && movesPart !== true,
    )
    .map(({ id: method }) => resolvePlan({ method, bucketBytes }));
  return [own, ...others];
}

function tensorsOf(
  { workload, optimizer }: ExperimentSpec,
  own: ModelFacts | undefined,
): readonly FlatTensor[] {
  const tensors = isSynthetic(workload)
    ? syntheticWorkload(workload).layers.flatMap((layer) => layer.tensors)
    : findWorkload({ ...workload, optimizer: optimizer.kind }, own).model.tensors;
  let start = 0;
  return tensors.map((tensor) => {
    const length = tensorLength(tensor);
    const flat = { name: tensor.name, shape: tensor.shape, start, length };
    start += length;
    return flat;
  });
}
