/**
 * The origin of a payload or state: everything that a file states about it, and everything
 * that decoding needs besides the bytes. A pure description; the same on every backend.
 */
import { z } from 'zod';
import { checkedOptions } from '../../shared/checks/checked-options.ts';
import { inputError } from '../../shared/errors/errors.ts';
import type { JsonObject } from '../../shared/checks/json.ts';
import { corrupt } from './container.ts';

/** 1 GiB of f32; with residual, payload and scratch an arena holds no more. */
const MAXIMUM_LENGTH = 2 ** 28;

const MOST_SIDES = 32;

const word = z.int().min(0).max(0xffffffff);

const provenanceSchema = z.strictObject({
  method: z.string().min(1).max(100),
  /** Parameters, including defaults, because another version may have other defaults. */
  parameters: z.record(z.string(), z.json()),
  /** Elements of the vector. */
  n: z.int().min(0).max(MAXIMUM_LENGTH),
  /** The shape of the vector's tensor; its product is n. */
  shape: z.array(z.int().min(0).max(MAXIMUM_LENGTH)).min(1).max(MOST_SIDES),
  seed: word,
  rank: word,
  /** Iteration that made it, for a payload; the next one, for a state. */
  iteration: word,
});

/** An iteration as a provenance can state it. */
export const iterationSchema = z.object({ iteration: word });

/** The options of a rank, before its size is known to fit; a provenance is one too. */
const vectorSchema = z.strictObject({
  method: z.string(),
  parameters: z.record(z.string(), z.unknown()).optional(),
  shape: z.array(z.int().min(0)).min(1).max(MOST_SIDES),
  seed: word.optional(),
  rank: word.optional(),
  /** Name of the backend, which is looked up when it is opened. */
  backend: z.unknown().optional(),
  n: z.unknown().optional(),
  iteration: z.unknown().optional(),
});

/**
 * @param what the function or class that was given them
 * @throws GradwireError `OPTION_INVALID`, `VECTOR_TOO_LARGE`
 */
export function requireVector(given: unknown, what: string): void {
  const { shape } = checkedOptions(vectorSchema, given, what);
  requireLength(elementsOf(shape));
  checkedOptions(provenanceSchema.pick({ shape: true }).strip(), given, what);
}

/**
 * A provenance that can be read again from the file that it is written to.
 * @throws GradwireError `OPTION_INVALID`
 */
export function requireProvenance(given: Provenance, what: string): void {
  const { n, shape } = checkedOptions(provenanceSchema, given, what);
  if (elementsOf(shape) === n) return;
  throw inputError(
    'OPTION_INVALID',
    `${what}: a shape of ${shape.join('×')} does not have ${n} elements`,
    { next: 'Give a provenance that a LoneRank has made.' },
  );
}

export type Provenance = Omit<z.infer<typeof provenanceSchema>, 'parameters'> & {
  readonly parameters: JsonObject;
};

/** @throws GradwireError `CONTAINER_CORRUPT` */
export function parseProvenance(header: unknown): Provenance {
  const parsed = provenanceSchema.safeParse(header);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    throw corrupt(`"${path.join('.') || 'header'}" of its header: ${message}`);
  }
  const { n, shape } = parsed.data;
  if (elementsOf(shape) !== n) {
    throw corrupt(`a shape of ${shape.join('×')} does not have ${n} elements`);
  }
  return parsed.data as Provenance;
}

export function elementsOf(shape: readonly number[]): number {
  return shape.reduce((product, side) => product * side, 1);
}

/** @throws GradwireError `VECTOR_TOO_LARGE` */
function requireLength(n: number): void {
  if (n <= MAXIMUM_LENGTH) return;
  throw inputError(
    'VECTOR_TOO_LARGE',
    `${n} elements are too many: at most ${MAXIMUM_LENGTH} can be compressed at once`,
    { next: 'Split the vector, just as a run splits a model into buckets.' },
  );
}
