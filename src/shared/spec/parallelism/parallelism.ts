/**
 * `parallelism` in a spec: the kinds, each with its keys, and the pipeline; and whether the other
 * settings fit what is asked for.
 */
import { z } from 'zod';
import '../../checks/spec-key.ts';
import { asynchronous } from './asynchronous.ts';
import {
  SYNTHETIC,
  type Misfit,
  type ParallelismKind,
  type SharedWork,
} from './kind.ts';
import { localSteps } from './local-steps.ts';
import { pipelineMisfits, pipelineOf, pipelineSchema } from './pipeline.ts';
import { synchronous } from './synchronous.ts';

/** The kinds, as the form and the reference show them. */
const KINDS = [synchronous, localSteps, asynchronous] as const;

export type ParallelismId = (typeof KINDS)[number]['id'];
/** Kinds by id; whoever lists them gets the order of the form. */
export const PARALLELISM: ReadonlyMap<string, ParallelismKind> = new Map(
  KINDS.map((kind) => [kind.id, kind]),
);

type Merged<U> = (U extends unknown ? (one: U) => void : never) extends (
  all: infer I,
) => void
  ? I
  : never;

/** Keys of all kinds. */
const keys = Object.assign({}, ...KINDS.map((kind) => kind.keys)) as Merged<
  (typeof KINDS)[number]['keys']
>;

export const parallelismSchema = z.strictObject({
  kind: z
    .enum(KINDS.map(({ id }) => id) as [ParallelismId, ...ParallelismId[]])
    .default(synchronous.id)
    .describe(KINDS.map(({ brief, id }) => `${id}: ${brief}`).join('; '))
    .meta({ title: 'Kind' }),
  ...keys,
  pipeline: pipelineSchema,
});
export type ParallelismSpec = z.infer<typeof parallelismSchema>;

/** Returns the kind that a spec asks for. */
export const parallelismKind = ({
  parallelism,
}: {
  readonly parallelism?: ParallelismSpec | undefined;
}): ParallelismKind => PARALLELISM.get(parallelism?.kind ?? synchronous.id)!;

/** The part of a spec that decides whether ranks can share the work as it asks. */
type Divided = SharedWork & { readonly parallelism?: ParallelismSpec | undefined };

/** The settings that do not fit what is asked for, the first to blame first. */
export const parallelismMisfits = (spec: Divided): readonly Misfit[] => [
  ...uncorrected(spec),
  ...keysOfOthers(spec),
  ...parallelismKind(spec).misfits(spec),
];

/**
 * The settings that do not fit a pipeline, as far as they do not depend on the model. None without
 * a pipeline.
 */
export const splitMisfits = (spec: Divided): readonly Misfit[] =>
  pipelineOf(spec) === undefined ? [] : [...unsplit(spec), ...pipelineMisfits(spec)];

/** Corrections by full gradients, if the kind or the gradient has none. */
function uncorrected(spec: Divided): readonly Misfit[] {
  const { optimizer, workload } = spec;
  if (optimizer.fullGradientEvery === undefined) return [];
  const { uncorrected: cause } = parallelismKind(spec);
  if (cause === undefined && workload.model !== SYNTHETIC) return [];
  const message = cause ?? 'a synthetic gradient has no samples';
  return [{ place: 'optimizer.fullGradientEvery', message, next: 'Remove it.' }];
}

/** Keys that only another kind has. */
function keysOfOthers(spec: Divided): readonly Misfit[] {
  const kind = parallelismKind(spec);
  return Object.entries(spec.parallelism ?? {}).flatMap(([key, value]) => {
    const only = [...PARALLELISM.values()].find(({ keys }) => Object.hasOwn(keys, key));
    if (value === undefined || only === undefined || only.id === kind.id) return [];
    const next = `Set parallelism.kind: ${only.id}, or remove ${key}.`;
    return [{ place: `parallelism.${key}`, message: kind.instead, next }];
  });
}

/** A kind whose ranks cannot be stages. */
function unsplit(spec: Divided): readonly Misfit[] {
  const { unsplittable } = parallelismKind(spec);
  if (unsplittable === undefined) return [];
  return [{ place: 'parallelism.kind', ...unsplittable }];
}
