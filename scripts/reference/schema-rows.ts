/** A JSON Schema as rows of a table: a key, what it may be, its default, what it means. */
import type { z } from 'zod';
import { cell, code } from './markdown.ts';

export type Schema = z.core.JSONSchema.BaseSchema;

export interface SchemaKey {
  /** `world.nodes`, `exchange.layers[].match`. */
  readonly path: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/**
 * All keys below a schema, in its order. Those with keys of their own come before these. Of a
 * schema of several kinds, the keys of each; none is required, since another kind lacks it.
 */
export function keysOf(schema: Schema, prefix = ''): readonly SchemaKey[] {
  if (schema.oneOf !== undefined) {
    return schema.oneOf
      .flatMap((kind) => keysOf(kind as Schema, prefix))
      .filter(({ schema: { not } }) => not === undefined)
      .map((key) => ({ ...key, isRequired: false }));
  }
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).flatMap(([name, raw]) => {
    const inner = raw as Schema;
    const path = prefix === '' ? name : `${prefix}.${name}`;
    return [
      { path, schema: inner, isRequired: required.has(name) },
      ...keysOf(inner, path),
      ...keysOf((inner.items ?? {}) as Schema, `${path}[]`),
    ];
  });
}

export const valueText = (schema: Schema): string => {
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined) {
    return schema.enum.map((value) => code(String(value))).join(', ');
  }
  const kinds = schema.anyOf ?? schema.oneOf;
  if (kinds !== undefined) {
    return kinds
      .map((one) => valueText(one as Schema))
      .filter((text, index, all) => text !== '' && all.indexOf(text) === index)
      .join(' or ');
  }
  return `${typeText(schema)}${boundsText(schema)}`;
};

function typeText({ items, prefixItems, type }: Schema): string {
  if (type === 'array') {
    const of = (items ?? prefixItems?.[0]) as Schema | undefined;
    return of === undefined ? 'a list' : `a list: ${valueText(of)}`;
  }
  if (type === 'object') return 'keys';
  return typeof type === 'string' ? type : 'any value';
}

function boundsText(schema: Schema): string {
  const low = finite(schema.minimum);
  const high = finite(schema.maximum);
  const above = schema.exclusiveMinimum;
  const below = schema.exclusiveMaximum;
  const bounds = [
    ...(low === undefined ? [] : [`≥ ${low}`]),
    ...(above === undefined ? [] : [`> ${above}`]),
    ...(high === undefined ? [] : [`≤ ${high}`]),
    ...(below === undefined ? [] : [`< ${below}`]),
  ];
  return bounds.length === 0 ? '' : ` ${bounds.join(', ')}`;
}

/** Bounds of exact integers say nothing. */
const finite = (bound: number | undefined): number | undefined =>
  bound === undefined || Math.abs(bound) === Number.MAX_SAFE_INTEGER
    ? undefined
    : bound;

export function defaultText({ isRequired, schema }: SchemaKey): string {
  if (schema.default !== undefined) return code(JSON.stringify(schema.default));
  return isRequired ? 'required' : '';
}

export const meaning = ({ schema }: SchemaKey): string =>
  cell(schema.description ?? schema.title ?? '');
