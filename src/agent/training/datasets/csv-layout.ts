/** The columns of a CSV file that a run uses, and its two labels. */
import { inputError } from '../../../shared/errors/errors.ts';
import { nearest } from '../../../shared/words/nearest.ts';
import { CATEGORY_COLUMNS, DENSE_COLUMNS } from '../batches/click-fields.ts';
import { contents, isNumber, type Column } from './csv-contents.ts';
import type { ColumnNames } from './dataset.ts';
import { malformed, quoted } from './text-lines.ts';

const LABEL = 'label';

/** Names of the columns that are used. */
export interface Layout {
  readonly label: string;
  /** Labels of class 0 and class 1. */
  readonly labels: readonly [string, string];
  readonly numeric: readonly string[];
  readonly categorical: readonly string[];
}

/**
 * @throws GradwireError `COLUMN_UNKNOWN`, `COLUMN_REPEATED`, `COLUMNS_TOO_MANY`;
 * `DATA_MISMATCH` where the labels are not two
 */
export function layoutOf(file: string, given: ColumnNames = {}): Layout {
  const { columns } = contents.of(file);
  if (columns.length === 0) {
    throw inputError('DATA_MISMATCH', `${file} is empty`, {
      place: file,
      next: 'Use a file whose first line names its columns.',
    });
  }
  const label = given.label ?? LABEL;
  const labelColumn = columnOf(columns, label, file, 'workload.columns.label');
  const isListed = given.numeric !== undefined || given.categorical !== undefined;
  const others = isListed ? [] : columns.filter((column) => column !== labelColumn);
  const ofKind = (isNumeric: boolean): readonly string[] =>
    others.filter((column) => column.isNumeric === isNumeric).map(({ name }) => name);
  const numeric = given.numeric ?? ofKind(true);
  const categorical = given.categorical ?? ofKind(false);
  const used = [label, ...numeric, ...categorical];
  for (const [i, name] of used.entries()) {
    columnOf(columns, name, file, 'workload.columns');
    if (used.indexOf(name) === i) continue;
    throw inputError('COLUMN_REPEATED', `the column ${quoted(name)} is listed twice`, {
      place: 'workload.columns',
      next: 'List it once.',
    });
  }
  requireCount(numeric, DENSE_COLUMNS, 'numbers');
  requireCount(categorical, CATEGORY_COLUMNS, 'categories');
  if (used.length === 1) {
    throw inputError('DATA_MISMATCH', `${file} has no column besides the label`, {
      place: file,
      next: 'Use a file with numeric or category columns.',
    });
  }
  const labels = labelsOf(labelColumn, file);
  requireNoSwallowed(file, columns.indexOf(labelColumn), labels);
  return { label, labels, numeric, categorical };
}

/**
 * Two quotes too many hide the records between them in one value.
 * @param place of the column of labels
 * @throws GradwireError `DATA_MISMATCH` where most lines of a value have a label themselves
 */
function requireNoSwallowed(
  file: string,
  place: number,
  labels: readonly string[],
): void {
  const { columns, doubtful } = contents.of(file);
  for (const { count, line, rows } of doubtful) {
    const samples = rows.filter(
      (values) => values.length === columns.length && labels.includes(values[place]!),
    );
    if (2 * samples.length < rows.length) continue;
    throw malformed(
      file,
      line,
      `a quoted value reaches over the next ${count === 1 ? 'line' : `${count} lines`}, ` +
        'which could be samples',
      {
        next: 'Remove the quote, or write it as "" in quotes. Replace line ends that belong to a value.',
      },
    );
  }
}

/** @throws GradwireError `COLUMN_UNKNOWN` */
export function columnOf(
  columns: readonly Column[],
  name: string,
  file: string,
  place: string,
): Column {
  const found = columns.find((column) => column.name === name);
  if (found !== undefined) return found;
  const names = columns.map((column) => column.name);
  const meant = nearest(name, names);
  throw inputError('COLUMN_UNKNOWN', `${file} has no column ${quoted(name)}`, {
    place,
    next:
      meant === undefined
        ? `Its columns: ${names.join(', ')}.`
        : `Did you mean "${meant}"?`,
  });
}

function requireCount(names: readonly string[], most: number, what: string): void {
  if (names.length <= most) return;
  throw inputError(
    'COLUMNS_TOO_MANY',
    `${names.length} columns of ${what}; a sample has room for ${most}`,
    {
      place: 'workload.columns',
      next: 'Name the columns to use, as numeric and categorical in workload.columns.',
    },
  );
}

function labelsOf({ name, values }: Column, file: string): readonly [string, string] {
  const isNumeric = [...values.keys()].every(isNumber);
  const [first, second, third] = [...values.keys()].sort((a, b) =>
    isNumeric ? Number(a) - Number(b) : a < b ? -1 : 1,
  );
  if (first === undefined || second === undefined) {
    const found = first === undefined ? 'no samples' : `only ${quoted(first)}`;
    throw inputError(
      'DATA_MISMATCH',
      `${file} has ${found} in the column ${quoted(name)}, expected two labels`,
      { place: file, next: 'Use a file with samples of both classes.' },
    );
  }
  if (third === undefined) return [first, second];
  const [one, two, other] = [...values.keys()].map(quoted);
  throw malformed(
    file,
    [...values.values()][2]!,
    `column ${quoted(name)}: ${other!}, after ${one!} and ${two!} in earlier lines`,
  );
}
