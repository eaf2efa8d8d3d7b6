/**
 * A field of an iteration's record is one definition: its schema, unit and title, its place among
 * the columns of exports and what the page's charts keep of it. `iteration.ts` lists the fields.
 */
import type { z } from 'zod';
import type { Phase } from './phases.ts';

/**
 * The unit of a field's value:
 *
 * - `ms`: a time in milliseconds.
 * - `moment`: milliseconds since 1970.
 * - `bytes`: a size.
 * - `share`: a part of 1.
 * - `metric`: what the run's kind of metric says.
 * - `number`: a number without a unit, such as a count or a norm.
 * - `none`: no quantity, such as a name, a flag or a list.
 */
export type FieldUnit =
  'ms' | 'moment' | 'bytes' | 'share' | 'metric' | 'number' | 'none';

interface MeasuredTime {
  readonly unit: 'ms';
  /**
   * The phase that the time is, or is a part of; `all`: the sum of the phases; `none`: time beside
   * them.
   */
  readonly phase: Phase | 'all' | 'none';
}

interface OtherValue {
  readonly unit: Exclude<FieldUnit, 'ms'>;
  readonly phase?: never;
}

interface FieldDefinition<S extends z.ZodType> {
  readonly schema: S;
  /** The name in tables and prints, if the field's own does not say it there. */
  readonly title?: string;
  /**
   * The place of its column: after those with a lower number. A new field takes the next number,
   * so that its column is the last one (`iteration-columns.ts`).
   */
  readonly place: number;
  /** The cell where it is absent, if that does not mean "not observed". */
  readonly absent?: number;
  /**
   * Charts keep this of many iterations: the `mean`, or a `band`, which is the mean and the
   * extremes. Default: they do not show it.
   */
  readonly chart?: 'mean' | 'band';
}

/**
 * The column of a field in exports is named by the field and its unit: `wall_ms`, `payload_bytes`.
 * A field whose value is a map from ranks has a column for each.
 */
export type IterationField<S extends z.ZodType = z.ZodType> = FieldDefinition<S> &
  (MeasuredTime | OtherValue);

export type IterationFields = Readonly<Record<string, IterationField>>;

type SchemasOf<F extends IterationFields> = {
  -readonly [K in keyof F]: F[K]['schema'];
};

export const schemasOf = <F extends IterationFields>(fields: F): SchemasOf<F> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { schema }]) => [name, schema]),
  ) as SchemasOf<F>;

/** Names of the fields that charts show, or that they show as this. */
export type Charted<F extends IterationFields, C = 'mean' | 'band'> = {
  [K in keyof F]: F[K] extends { readonly chart: C } ? K & string : never;
}[keyof F];
