/** Fields made from the spec's schema: their titles, kinds, bounds and usual values. */
import { z } from 'zod';
import type { JsonValue } from '../../../shared/checks/json.ts';
import { experimentSpecSchema } from '../../../shared/spec/experiment-spec.ts';
import { exclusionText } from '../../../shared/spec/key-rules.ts';
import {
  plainChoices,
  type FieldKind,
  type FormChoice,
  type FormField,
  type FormSection,
} from './form-field.ts';
import { valueAt, type Draft } from './spec-draft.ts';

/** The parts of a key's JSON schema that the form reads. */
interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly default?: JsonValue;
  readonly type?: string;
  readonly title?: string;
  readonly folded?: boolean;
  readonly section?: string;
}

const schema = z.toJSONSchema(experimentSpecSchema, { io: 'input' }) as SchemaNode;

/**
 * The schema of a key.
 * @throws Error if the spec has no such key
 */
export function schemaAt(path: string): SchemaNode {
  let node: SchemaNode | undefined = schema;
  for (const key of path.split('.')) node = node?.properties?.[key];
  if (node === undefined) throw new Error(`internal: no "${path}" in the spec`);
  return node;
}

const KINDS: Readonly<Record<string, FieldKind>> = {
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
  array: 'json',
  object: 'json',
};

const kindOf = (node: SchemaNode): FieldKind =>
  node.enum === undefined ? (KINDS[node.type ?? ''] ?? 'text') : 'choice';

/** The meaning of a key, and the settings beside which it is refused. */
function describe({ description }: SchemaNode, path: string): string | undefined {
  const others = exclusionText(experimentSpecSchema, path, 'own');
  if (others === undefined) return description;
  return description === undefined ? others : `${description}; ${others}`;
}

/**
 * A field for a key that has a title.
 * @param choices that replace those of the schema
 */
export function field(path: string, choices?: readonly FormChoice[]): FormField {
  const node = schemaAt(path);
  const { default: usual, maximum, minimum, title } = node;
  if (title === undefined) throw new Error(`internal: "${path}" has no title`);
  const kind =
    choices === undefined ? kindOf(node) : node.type === 'array' ? 'several' : 'choice';
  return {
    path,
    kind,
    title,
    description: describe(node, path),
    minimum,
    maximum,
    choices: kind === 'choice' ? (choices ?? plainChoices(node.enum)) : choices,
    ...(kind === 'choice' && typeof usual === 'string' ? { usual } : {}),
  };
}

/** A section's titled keys, in the spec's order. */
function pathsOf(
  section: string,
  node: SchemaNode = schema,
  path = '',
  inherited?: string,
): readonly string[] {
  const own = node.section ?? inherited;
  if (node.title !== undefined) return own === section ? [path] : [];
  return Object.entries(node.properties ?? {}).flatMap(([key, inner]) =>
    pathsOf(section, inner, path === '' ? key : `${path}.${key}`, own),
  );
}

/** The parts of a form that do not follow from the spec's schema. */
interface Choosing {
  /** Choices of keys that take names from the catalogue. */
  readonly choices: Readonly<Record<string, readonly FormChoice[]>>;
  /** Fields in place of a key's own. */
  readonly instead: Readonly<Record<string, readonly FormField[]>>;
  /** Keys, alone or with those in them, that are not always asked for, and whether they are now. */
  readonly asked: Readonly<Record<string, boolean>>;
}

/** A section of the form, with a field for each titled key that is asked for. */
export function sectionOf(
  title: string,
  { asked, choices, instead }: Choosing,
): FormSection {
  const isAsked = (path: string): boolean =>
    Object.entries(asked).every(([key, is]) => is || !`${path}.`.startsWith(`${key}.`));
  const paths = pathsOf(title).filter(isAsked);
  const fields = (folded: boolean): readonly FormField[] =>
    paths
      .filter((path) => (schemaAt(path).folded ?? false) === folded)
      .flatMap((path) => instead[path] ?? [field(path, choices[path])]);
  const more = fields(true);
  return { title, fields: fields(false), ...(more.length > 0 ? { more } : {}) };
}

/** Whether a folded field needs attention: its value is not the usual one. */
export function isUnusual(draft: Draft, { path }: FormField): boolean {
  const value = valueAt(draft, path);
  return value !== undefined && value !== schemaAt(path).default;
}
