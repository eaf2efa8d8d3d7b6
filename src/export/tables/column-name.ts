/** Names of columns: a field's name and the unit of its values. */
import type { FieldUnit } from '../../shared/records/iteration-field.ts';

const ENDINGS: Readonly<Partial<Record<FieldUnit, string>>> = {
  ms: '_ms',
  moment: '_ms',
  bytes: '_bytes',
};

/** A field's name as columns have it: `phases.residualNorm` is `phases_residual_norm`. */
export const snakeCase = (path: string): string =>
  path.replaceAll('.', '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The column of a field: `wireSent` in bytes is `wire_sent_bytes`. */
export const columnName = (path: string, unit: FieldUnit): string =>
  snakeCase(path) + (ENDINGS[unit] ?? '');

/** The column of an iteration's field. It says the group where name and unit do not. */
export const fieldColumn = (group: string, name: string, unit: FieldUnit): string =>
  columnName(group === 'activations' ? `${group}.${name}` : name, unit);
