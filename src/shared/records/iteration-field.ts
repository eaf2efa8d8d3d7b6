/**
 * A field of an iteration's record is one definition: its schema, its column in CSV exports and
 * what the page's charts keep of it. `iteration.ts` lists the fields.
 */
import type { z } from 'zod';

export interface IterationField<S extends z.ZodType = z.ZodType> {
  readonly schema: S;
  /**
   * The column's name in CSV, which says the unit: `wall_ms`, `payload_bytes`. A field whose
   * value is a map from ranks has a column for each.
   */
  readonly column: string;
  /** The cell where it is absent, if that does not mean "not observed". */
  readonly absent?: number;
  /** The column stands at the end, where it leaves the places of older ones alone. */
  readonly isLater?: true;
  /**
   * Charts keep this of many iterations: the `mean`, or a `band`, which is the mean and the
   * extremes. Default: they do not show it.
   */
  readonly chart?: 'mean' | 'band';
}

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
