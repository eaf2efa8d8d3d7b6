/**
 * The numbers of an iteration record as one row of a typed array, for the charts. A
 * quantity that was not observed is NaN.
 */
import { PHASES, type Phase } from './phases.ts';
import type { Charted, IterationField } from './iteration-field.ts';
import { CHART_FIELDS, type IterationRecord } from './iteration.ts';

type ChartField = Charted<typeof CHART_FIELDS>;
export type Field = Phase | ChartField;

const DEFINITIONS: readonly (readonly [string, IterationField])[] =
  Object.entries(CHART_FIELDS);
const CHARTED = DEFINITIONS.flatMap(([name, { chart }]) =>
  chart === undefined ? [] : [name as ChartField],
);

/** All of them, in the order of a row. */
export const FIELDS: readonly Field[] = [...PHASES, ...CHARTED];

export const FIELD_COUNT = FIELDS.length;

/** A field's position in a row. */
export const COLUMN = Object.fromEntries(
  FIELDS.map((field, index) => [field, index]),
) as Readonly<Record<Field, number>>;

/** Fields whose extremes are kept along with the mean, so that tails stay visible. */
export type BandedField = Charted<typeof CHART_FIELDS, 'band'>;
export const BANDED_FIELDS = DEFINITIONS.flatMap(([name, { chart }]) =>
  chart === 'band' ? [name as BandedField] : [],
);

const ofBytes = ({
  bytes,
}: IterationRecord): Readonly<Partial<Record<string, number | undefined>>> => bytes;

/** Writes a record as a row, FIELD_COUNT long, which begins at `at`. */
export function writeRow(record: IterationRecord, rows: Float64Array, at = 0): void {
  for (let i = 0; i < PHASES.length; i++) {
    rows[at + i] = record.phases[PHASES[i]!] ?? NaN;
  }
  const fields = record as Readonly<Partial<Record<string, unknown>>>;
  const bytes = ofBytes(record);
  for (let i = 0; i < CHARTED.length; i++) {
    const name = CHARTED[i]!;
    rows[at + PHASES.length + i] =
      (fields[name] as number | undefined) ?? bytes[name] ?? NaN;
  }
}
