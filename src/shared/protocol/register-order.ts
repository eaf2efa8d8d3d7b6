/** Registers an order that is defined elsewhere. */
import type { OrderDefinition } from '../orders/order.ts';
import { addOrder } from '../orders/orders.ts';
import { requestSchemas } from './requests.ts';

/**
 * Adds an order to a run, in this process.
 * @throws GradwireError `ORDER_INVALID`, `ORDER_DUPLICATE`
 */
export function registerOrder(definition: OrderDefinition): void {
  addOrder(definition, Object.keys(requestSchemas));
}
