/**
 * A sweep: one spec, and what is varied in it. Every combination of the grid's values, at every
 * point of the list, is a point of the sweep; each is run with every seed. One schema checks what
 * a file, the command line and the page say.
 */
import { z } from 'zod';
import type { JsonValue } from '../checks/json.ts';
import { INTERPRETED } from '../checks/interpreted.ts';
import { requirePlainTree, type PlaceOfIssue } from '../checks/plain-tree.ts';
import { explainIssue } from '../spec/experiment-spec.ts';
import { isPrintable, PRINTABLE_RULE } from '../words/printable.ts';

/** Most runs of a sweep. */
export const MOST_SWEEP_RUNS = 500;
/** Most runs at once. */
export const MOST_AT_ONCE = 16;
const LONGEST_NAME = 80;
const LARGEST_SEED = 0xffffffff;

/** Checked as a part of each point's spec. */
const value = z.any() as z.ZodType<JsonValue>;

const seedsSchema = z.union([
  z.int().min(1).max(MOST_SWEEP_RUNS),
  z
    .array(z.int().min(0).max(LARGEST_SEED))
    .min(1)
    .refine((seeds) => new Set(seeds).size === seeds.length, 'a seed is listed twice'),
]);

export const sweepSchema = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(LONGEST_NAME)
    .refine(isPrintable, PRINTABLE_RULE)
    .refine((name) => name.trim() !== '', 'it must not be blank')
    .refine((name) => name !== 'last', '"last" stands for the newest sweep')
    .refine((name) => !/["*]/.test(name), 'quotes and asterisks are not allowed')
    .optional()
    .describe('Name of the sweep; default: that of the spec'),
  base: z
    .record(z.string(), z.unknown())
    .describe(
      'The spec that is varied; in a file also a preset, or the path of a spec',
    ),
  grid: z
    .record(z.string(), z.array(value).min(1).max(MOST_SWEEP_RUNS))
    .default({})
    .describe('Values by key of the spec: every combination is a point'),
  list: z
    .array(z.record(z.string(), value))
    .max(MOST_SWEEP_RUNS)
    .default([])
    .describe('Points one by one, each with its values by key of the spec'),
  seeds: seedsSchema
    .default(1)
    .describe('Seeds of every point, or how many from the seed of the spec on'),
  atOnce: z
    .int()
    .min(1)
    .max(MOST_AT_ONCE)
    .default(1)
    .describe('Runs at the same time; times are only comparable with one'),
});

/** A sweep as `parseSweep` has returned it. */
export type SweepDefinition = z.infer<typeof sweepSchema>;

/**
 * Checks a raw value (parsed YAML or JSON) as a sweep. Its points are checked by `sweepPoints`.
 * @throws GradwireError `SWEEP_INVALID`, `SWEEP_UNKNOWN_KEY`
 */
export function parseSweep(raw: unknown, place = 'sweep'): SweepDefinition {
  const where: PlaceOfIssue = { code: 'SWEEP', place };
  requirePlainTree(raw, where);
  const parsed = sweepSchema.safeParse(raw, INTERPRETED);
  if (parsed.success) return parsed.data;
  throw explainIssue(sweepSchema, raw, parsed.error, where);
}

/** Whether a file's value is a sweep and not a spec. */
export const isSweep = (raw: unknown): boolean =>
  typeof raw === 'object' &&
  raw !== null &&
  ['base', 'grid', 'list', 'seeds', 'atOnce'].some((key) => Object.hasOwn(raw, key));

const FIRST_SEED = 1;

/** The seeds of every point. */
export function seedsOf({
  base,
  seeds,
}: Pick<SweepDefinition, 'base' | 'seeds'>): readonly number[] {
  if (typeof seeds !== 'number') return seeds;
  const { seed } = base;
  const first = typeof seed === 'number' ? seed : FIRST_SEED;
  // Beyond the largest seed they go on from 0.
  return Array.from(
    { length: seeds },
    (_, index) => (first + index) % (LARGEST_SEED + 1),
  );
}
