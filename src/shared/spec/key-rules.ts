/**
 * Keys of a spec that do not fit each other, as the definition of one of them says
 * (`.meta({ excludes })`). The check before a launch, the hints of the form and the reference are
 * made from it.
 */
import { z } from 'zod';
import type { Exclusion } from '../checks/spec-key.ts';
import { inputError } from '../errors/errors.ts';

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly excludes?: readonly Exclusion[];
}

/** A key with an exclusion. */
interface Rule extends Exclusion {
  /** The path of the key whose definition has it. */
  readonly of: string;
}

const ruleSets = new WeakMap<z.ZodObject, readonly Rule[]>();

/** The exclusions of all keys of a schema, in its order. */
function rulesOf(schema: z.ZodObject): readonly Rule[] {
  const known = ruleSets.get(schema);
  if (known !== undefined) return known;
  const below = (node: Node, path: string): readonly Rule[] => [
    ...(node.excludes ?? []).map((exclusion) => ({ ...exclusion, of: path })),
    ...Object.entries(node.properties ?? {}).flatMap(([key, inner]) =>
      below(inner, path === '' ? key : `${path}.${key}`),
    ),
  ];
  const rules = below(z.toJSONSchema(schema, { io: 'input' }) as Node, '');
  ruleSets.set(schema, rules);
  return rules;
}

/** @throws GradwireError of the first exclusion that the spec breaks */
export function checkExclusions(schema: z.ZodObject, spec: object): void {
  for (const { because, code, is, key, next, of, place = of, value } of rulesOf(
    schema,
  )) {
    if (!isSet(spec, of, value) || !isSet(spec, key, is)) continue;
    throw inputError(code, because, { place, next });
  }
}

/** Whether a key has this value; without one, whether it asks for anything. */
function isSet(spec: object, path: string, value: string | undefined): boolean {
  let found: unknown = spec;
  for (const key of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key))
      return false;
    found = (found as Readonly<Record<string, unknown>>)[key];
  }
  return value === undefined
    ? found !== undefined && found !== false && found !== 0
    : found === value;
}

/**
 * The settings beside which a key is refused, such as `not with overlap or engine: inline`.
 * Undefined: there are none.
 * @param whose `own`: only what the definition of the key says; default: also what others say of it
 */
export function exclusionText(
  schema: z.ZodObject,
  path: string,
  whose: 'own' | 'all' = 'all',
): string | undefined {
  const others = new Map<string | undefined, string[]>();
  const add = (
    own: string | undefined,
    key: string,
    value: string | undefined,
  ): void => {
    const text = value === undefined ? key : `${key}: ${value}`;
    others.set(own, [...(others.get(own) ?? []), text]);
  };
  for (const { is, key, of, value } of rulesOf(schema)) {
    if (of === path) add(value, key, is);
    if (key === path && whose === 'all') add(is, of, value);
  }
  if (others.size === 0) return undefined;
  return [...others]
    .map(
      ([own, texts]) =>
        `${own === undefined ? '' : `${own}: `}not with ${listed(texts)}`,
    )
    .join('; ');
}

const listed = (texts: readonly string[]): string =>
  texts.length === 1
    ? texts[0]!
    : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)!}`;
