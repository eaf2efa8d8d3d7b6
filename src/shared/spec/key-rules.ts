/**
 * Keys of a spec that do not fit each other, or not without each other, as the definition of one of
 * them says (`.meta({ excludes, needs })`). The check before a launch, the hints of the form and the
 * reference are made from it.
 */
import { z } from 'zod';
import type { Exclusion, Need } from '../checks/spec-key.ts';
import { inputError } from '../errors/errors.ts';

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly excludes?: readonly Exclusion[];
  readonly needs?: readonly Need[];
}

/** The path of the key whose definition has a rule. */
interface Owned {
  readonly of: string;
}
interface Rules {
  readonly excludes: readonly (Exclusion & Owned)[];
  readonly needs: readonly (Need & Owned)[];
}

const ruleSets = new WeakMap<z.ZodObject, Rules>();

/** The rules of all keys of a schema, in its order. */
function rulesOf(schema: z.ZodObject): Rules {
  const known = ruleSets.get(schema);
  if (known !== undefined) return known;
  const excludes: (Exclusion & Owned)[] = [];
  const needs: (Need & Owned)[] = [];
  const walk = (node: Node, of: string): void => {
    excludes.push(...(node.excludes ?? []).map((rule) => ({ ...rule, of })));
    needs.push(...(node.needs ?? []).map((rule) => ({ ...rule, of })));
    for (const [key, inner] of Object.entries(node.properties ?? {})) {
      walk(inner, of === '' ? key : `${of}.${key}`);
    }
  };
  walk(z.toJSONSchema(schema, { io: 'input' }) as Node, '');
  const rules = { excludes, needs };
  ruleSets.set(schema, rules);
  return rules;
}

/** @throws GradwireError of the first exclusion that the spec breaks */
export function checkExclusions(schema: z.ZodObject, spec: object): void {
  for (const { because, code, is, key, next, of, place = of, value } of rulesOf(schema)
    .excludes) {
    if (!isSet(valueAt(spec, of), value) || !isSet(valueAt(spec, key), is)) continue;
    throw inputError(code, because, { place, next });
  }
}

/** @throws GradwireError of the first need that the spec leaves open */
export function checkNeeds(schema: z.ZodObject, spec: object): void {
  for (const { because, code, is, key, next, of, place = of, value } of rulesOf(schema)
    .needs) {
    const own = valueAt(spec, of);
    if (own === undefined || (value !== undefined && own !== value)) continue;
    const found = valueAt(spec, key);
    const isEmpty = Array.isArray(found) && found.length === 0;
    if (isSet(found, is) && !isEmpty) continue;
    const message = because.replace('{found}', () => String(found));
    throw inputError(code, message, { place, next });
  }
}

/** The first need of a key. @throws Error if it has none */
export function needOf(schema: z.ZodObject, path: string): Need {
  const found = rulesOf(schema).needs.find(({ of }) => of === path);
  if (found === undefined) throw new Error(`internal: "${path}" needs nothing`);
  return found;
}

/** The value of a key; undefined where the spec does not have it. */
function valueAt(spec: object, path: string): unknown {
  let found: unknown = spec;
  for (const key of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key))
      return undefined;
    found = (found as Readonly<Record<string, unknown>>)[key];
  }
  return found;
}

/** Whether a key has this value; without one, whether it asks for anything. */
const isSet = (found: unknown, value: string | undefined): boolean =>
  value === undefined
    ? found !== undefined && found !== false && found !== 0
    : found === value;

/** The settings without which a key is refused, such as `only with backend: torch`, if any. */
export function needsText(schema: z.ZodObject, path: string): string | undefined {
  const texts = rulesOf(schema)
    .needs.filter(({ of }) => of === path)
    .map(({ is, key, value }) => {
      const own = value === undefined ? '' : `${value}: `;
      return `${own}only with ${key}${is === undefined ? '' : `: ${is}`}`;
    });
  return texts.length === 0 ? undefined : texts.join('; ');
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
  for (const { is, key, of, value } of rulesOf(schema).excludes) {
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
