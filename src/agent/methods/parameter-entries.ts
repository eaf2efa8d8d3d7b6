/**
 * A method's parameters for a form, read from its zod schema via JSON Schema, so that a
 * parameter is described in one place.
 */
import { z } from 'zod';
import { capitalized } from '../../shared/words/capitalized.ts';
import type { ParameterEntry } from '../../shared/catalogue/catalogue.ts';
import type { JsonValue } from '../../shared/checks/json.ts';

/** The parts of JSON Schema that parameters are made of. */
interface Property {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: JsonValue;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly exclusiveMaximum?: number;
  readonly enum?: readonly unknown[];
  readonly properties?: Properties;
}

type Properties = Readonly<Record<string, Property>>;

/**
 * One entry for each field, in the schema's order, and for each part of a field that has
 * parts (`quantize.bits`). Exclusive bounds are shown as bounds.
 */
export function parameterEntries(schema: z.ZodObject): ParameterEntry[] {
  const { properties } = z.toJSONSchema(schema, { io: 'input' }) as Property;
  return entriesOf(properties ?? {}, '');
}

function entriesOf(properties: Properties, prefix: string): ParameterEntry[] {
  return Object.entries(properties).flatMap(([name, property]) => {
    const key = prefix + name;
    return property.properties === undefined
      ? [entryOf(key, property)]
      : entriesOf(property.properties, `${key}.`);
  });
}

function entryOf(key: string, property: Property): ParameterEntry {
  return {
    key,
    type: typeOf(key, property),
    title: property.title ?? titleOf(key),
    description: property.description ?? '',
    ...(property.default === undefined ? {} : { default: property.default }),
    ...bound('minimum', property.minimum ?? property.exclusiveMinimum),
    ...bound('maximum', property.maximum ?? property.exclusiveMaximum),
    ...(property.enum === undefined ? {} : { choices: property.enum.map(String) }),
  };
}

function typeOf(key: string, property: Property): ParameterEntry['type'] {
  if (property.enum !== undefined) return 'choice';
  switch (property.type) {
    case 'number':
    case 'integer':
    case 'boolean':
      return property.type;
    case 'string':
      return 'text';
    default:
      throw new Error(
        `internal: parameter ${key} has no form of type ${property.type}`,
      );
  }
}

/** A bound that the schema states, not the limits of exact integers. */
function bound(
  name: 'minimum' | 'maximum',
  value: number | undefined,
): Partial<ParameterEntry> {
  return value === undefined || Math.abs(value) === Number.MAX_SAFE_INTEGER
    ? {}
    : { [name]: value };
}

/** `resyncEvery` → `Resync every`, `quantize.bits` → `Quantize bits`. */
function titleOf(key: string): string {
  const words = key
    .replaceAll('.', ' ')
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  // A quantity has its symbol: k, not K.
  return words.length === 1 ? words : capitalized(words);
}
