/**
 * An order to a run in progress is one definition: what a user asks, what each rank is told, and
 * which machine is asked. `orders.ts` lists the orders. On its way from a page or a command to
 * the engine of each rank no program needs to know its type, unless it acts on it.
 */
import { z } from 'zod';

/**
 * The machine of a run that is asked.
 *
 * - `lead`: the first one, which alone may decide.
 * - `any`: one that answers, as the ranks agree among themselves.
 * - `all`: each.
 */
type AskedMachine = 'lead' | 'any' | 'all';

type Fields = z.ZodObject;

export interface OrderDefinition<
  Type extends string = string,
  Asked extends Fields | undefined = Fields | undefined,
  Answer extends Fields = Fields,
  Told extends Fields | undefined = Fields | undefined,
> {
  readonly type: Type;
  /**
   * The keys of the order as a page or a command gives it; undefined: only supervisors give it.
   * Together with the run's id they are the request to its supervisor.
   */
  readonly asked: Asked;
  /** The keys of the supervisor's answer. */
  readonly answer: Answer;
  /**
   * The keys of the order as each rank is told it; undefined: no rank is. The same keys as
   * `asked` need nobody who acts on it at the supervisor.
   */
  readonly told: Told;
  readonly asks: AskedMachine;
  /** Whether supervisors of another version take it (docs/decisions/039-other-versions.md). */
  readonly isReading: boolean;
}

/** Checks a definition's types; returns it as it is. */
export const orderDefinition = <
  const Type extends string,
  Asked extends Fields | undefined,
  Answer extends Fields,
  Told extends Fields | undefined,
>(
  definition: OrderDefinition<Type, Asked, Answer, Told>,
): OrderDefinition<Type, Asked, Answer, Told> => definition;

/** The schema of an order, or an answer, that says nothing more than its type. */
export const nothingMore = z.object({});
