/**
 * The orders to a run in progress. Each travels as one message, whose type says which it is:
 * from a page or a command to main, from there as a request of the same name to a supervisor,
 * and to each rank's worker and engine. Whoever receives it checks it against its definition.
 */
import { z } from 'zod';
import { INTERPRETED } from '../checks/interpreted.ts';
import {
  invalidDefinition,
  register,
  type RegistryKind,
} from '../catalogue/registry.ts';
import { checkpointOrder } from './checkpoint.ts';
import type { OrderDefinition } from './order.ts';
import { foreseeOrder } from './foresee.ts';
import { pauseOrder } from './pause.ts';
import { stopOrder } from './stop.ts';
import { switchOrder } from './switch.ts';
import { traceOrder } from './trace.ts';

const ORDERS = [
  switchOrder,
  stopOrder,
  pauseOrder,
  checkpointOrder,
  traceOrder,
  foreseeOrder,
] as const;

type Definition = (typeof ORDERS)[number];
type AskedDefinition = Extract<Definition, { asked: z.ZodObject }>;
type ToldDefinition = Extract<Definition, { told: z.ZodObject }>;

/** Keys of a schema. One without keys is an object to which others may be added. */
type Keys<S extends z.ZodObject> = keyof S['shape'] extends never ? object : z.infer<S>;

type Of<D extends Definition, Face extends 'asked' | 'told'> = D extends {
  readonly type: infer T;
} & { readonly [F in Face]: infer S extends z.ZodObject }
  ? Readonly<{ type: T } & Keys<S>>
  : never;

/** An order as a page or a command gives it. */
export type RunOrder = Of<AskedDefinition, 'asked'>;
/** An order as a rank is told it. */
export type RankOrder = Of<ToldDefinition, 'told'>;

export type AskedType = RunOrder['type'];
export type OrderOf<T extends AskedType> = Extract<RunOrder, { type: T }>;
export type RankOrderOf<T extends RankOrder['type']> = Extract<RankOrder, { type: T }>;

/** The keys of an order besides its type. */
export type AskedKeys<T extends AskedType> = Keys<
  Extract<AskedDefinition, { type: T }>['asked']
>;

/** The answer to an order. */
export type AnswerTo<T extends AskedType> = Readonly<
  Keys<Extract<AskedDefinition, { type: T }>['answer']>
>;

/** All definitions by type, those from outside included. */
const definitions = new Map<string, OrderDefinition & { readonly id: string }>(
  ORDERS.map((definition) => [definition.type, { ...definition, id: definition.type }]),
);

const KIND: RegistryKind = { code: 'ORDER', noun: 'order' };

/**
 * Adds an order to the list. `registerOrder` is for callers.
 * @param reserved names that a request to a supervisor has already
 * @throws GradwireError `ORDER_INVALID`, `ORDER_DUPLICATE`
 */
export function addOrder(
  definition: OrderDefinition,
  reserved: readonly string[],
): void {
  const { asked: keys, told, type } = definition;
  for (const fields of [keys, told]) {
    const taken = ['run', 'type'].find((key) =>
      Object.hasOwn(fields?.shape ?? {}, key),
    );
    if (taken === undefined) continue;
    throw invalidDefinition(KIND, type, `its key "${taken}" means something else`);
  }
  register(definitions, { ...definition, id: type }, KIND, reserved);
}

/** The definition of an order; undefined if this version does not know it. */
export const orderNamed = (type: string): OrderDefinition | undefined =>
  definitions.get(type);

/** Orders that a page or a command may give, by type. */
export const askedOrders = (): readonly OrderDefinition[] =>
  [...definitions.values()].filter(({ asked }) => asked !== undefined);

/**
 * The schema of any order, as users give it or as ranks are told it. Keys that a definition
 * does not know are dropped, as in all messages.
 */
function anyOrder(face: 'asked' | 'told') {
  return z.looseObject({ type: z.string() }).transform((raw, context) => {
    const fields = definitions.get(raw.type)?.[face];
    if (fields === undefined) {
      const message = 'there is no such order';
      context.issues.push({ code: 'custom', path: ['type'], message, input: raw.type });
      return z.NEVER;
    }
    const parsed = fields.safeParse(raw, INTERPRETED);
    if (parsed.success) return { type: raw.type, ...parsed.data };
    for (const { path, ...issue } of parsed.error.issues) {
      context.issues.push({ ...issue, path, input: raw } as z.core.$ZodRawIssue);
    }
    return z.NEVER;
  });
}

export const runOrderSchema = anyOrder('asked') as unknown as z.ZodType<RunOrder>;
export const rankOrderSchema = anyOrder('told') as unknown as z.ZodType<RankOrder>;
