/**
 * An upper bound of what an iteration's record takes as JSON. Most fields are numbers, whose
 * bound is known beforehand; the others are looked at.
 */
import { z } from 'zod';
import { jsonBound } from './json-bound.ts';
import type { IterationField } from '../../shared/records/iteration-field.ts';
import {
  ITERATION_FIELDS,
  type IterationRecord,
} from '../../shared/records/iteration.ts';

/** Name, quotes, colon, comma and a number of any digits. */
const numberBytes = (name: string): number => name.length + 4 + jsonBound(0);

const FIELDS = ITERATION_FIELDS.flatMap(({ fields, group }) =>
  Object.entries<IterationField>(fields).map(([name, { schema }]) => ({
    group,
    name,
    isNumber: isNumber(schema),
  })),
);

/** Type, rank, iteration, the names of groups, the entry around it, and all numbers. */
const FIXED_BYTES = 400 + FIELDS.reduce((sum, { name }) => sum + numberBytes(name), 0);
const OTHERS = FIELDS.filter((field) => !field.isNumber);

export function iterationBound(record: IterationRecord): number {
  let bytes = FIXED_BYTES;
  for (const { group, name } of OTHERS) {
    const of = group === '' ? record : record[group as 'activations'];
    const value = (of as Readonly<Record<string, unknown>> | undefined)?.[name];
    if (value !== undefined) bytes += jsonBound(value);
  }
  return bytes;
}

function isNumber(schema: z.ZodType): boolean {
  let inner = schema;
  while (inner instanceof z.ZodOptional) inner = inner.unwrap() as z.ZodType;
  return inner instanceof z.ZodNumber || inner instanceof z.ZodLiteral;
}
