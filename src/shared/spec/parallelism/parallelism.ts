/** `parallelism` in a spec: the kinds, each with its keys, and the pipeline. */
import { z } from 'zod';
import '../../checks/spec-key.ts';
import { asynchronous } from './asynchronous.ts';
import type { ParallelismKind } from './kind.ts';
import { localSteps } from './local-steps.ts';
import { pipelineSchema } from './pipeline.ts';
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
