/**
 * The form of a machine: the typed values, the resulting entry, and its errors by field.
 */
import { entryProblems, type NodeEntry } from '../../../shared/machines/node-entry.ts';
import {
  entryFrom,
  NODE_FIELDS,
  valuesOf,
  type NodeField,
  type NodeKey,
  type NodeValue,
} from '../../../shared/machines/node-fields.ts';
import { nameOf } from './node-text.ts';

/** The typed values, and whether it is a Slurm login node. */
export type NodeForm = Record<NodeKey, string> & { isSlurm: boolean };

export const emptyNodeForm = (): NodeForm => ({
  ...(Object.fromEntries(NODE_FIELDS.map(({ key }) => [key, ''])) as Record<
    NodeKey,
    string
  >),
  transport: 'auto',
  isSlurm: false,
});

/** The form for an existing machine. */
export function formOf(entry: NodeEntry): NodeForm {
  const { fields, slurm } = valuesOf(entry);
  const form = { ...emptyNodeForm(), isSlurm: slurm };
  for (const field of NODE_FIELDS) {
    const value = fields[field.key];
    if (value !== undefined) form[field.key] = textOf(field, value);
  }
  return form;
}

/**
 * The form's entry, valid or not. Empty fields are left out.
 * @param base the entry to change; untouched values stay
 */
export function entryOf(form: NodeForm, base?: NodeEntry): Record<string, unknown> {
  const was = base === undefined ? {} : valuesOf(base).fields;
  const fields = Object.fromEntries(
    NODE_FIELDS.flatMap((field) => {
      const { key } = field;
      const before = was[key];
      const isAsBefore = before !== undefined && form[key] === textOf(field, before);
      const value = isAsBefore ? before : valueOf(field, form[key]);
      return value === undefined ? [] : [[key, value] as const];
    }),
  );
  const name = fields['name'] ?? nameOf(form.host.trim());
  return entryFrom({ fields: { ...fields, name }, slurm: form.isSlurm }, base);
}

/** Errors by field, as far as they can be found here. */
export function formProblems(
  form: NodeForm,
  base?: NodeEntry,
): ReadonlyMap<NodeKey, string> {
  const problems = new Map<NodeKey, string>();
  const port = form.port.trim();
  if (
    port !== '' &&
    !(/^\d+$/.test(port) && Number(port) >= 1 && Number(port) < 2 ** 16)
  )
    problems.set('port', `"${port}" is not valid: a number from 1 to 65535`);
  if (form.host.trim() === '') problems.set('host', 'it is missing');
  for (const { path, message } of entryProblems(entryOf(form, base))) {
    const key = fieldOf(path);
    // Without a host no name can be suggested.
    const follows = key === 'name' && form.name.trim() === '' && problems.has('host');
    if (key !== undefined && !follows && !problems.has(key)) problems.set(key, message);
  }
  return problems;
}

/** The field of a value of the entry, by its path as errors name it. */
export const fieldOf = (path: string | undefined): NodeKey | undefined =>
  NODE_FIELDS.find((field) => field.path === path)?.key;

/** Several lines: one value per line. */
export const hasLines = ({ key, separator }: NodeField, form: NodeForm): boolean =>
  separator === '\n' && (key !== 'identity' || form.identity.includes('\n'));

const textOf = ({ separator }: NodeField, value: NodeValue): string =>
  typeof value === 'object'
    ? value.join(separator === ',' ? ', ' : separator)
    : String(value);

function valueOf({ kind, separator }: NodeField, text: string): NodeValue | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  switch (kind) {
    case 'text':
      return trimmed;
    case 'count':
      // Text that is not a number stays as typed, so that the check names it.
      return /^-?\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
    case 'list': {
      const parts = text.split(separator!).map((part) => part.trim());
      return parts.filter((part) => part !== '');
    }
    default:
      return kind satisfies never;
  }
}
