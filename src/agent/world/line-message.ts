/** Messages between a rank's process and its parent, as either end takes them. */
import type { z } from 'zod';
import { checkedMessage } from '../../shared/protocol/checked-message.ts';

/** @throws GradwireError if it is no such message */
export type Parse<Message> = (raw: unknown) => Message;

/** @throws GradwireError `ORDER_INVALID` */
export const parseOrder =
  <Order>(schema: z.ZodType<Order>): Parse<Order> =>
  (raw) =>
    checkedMessage(schema, raw, { code: 'ORDER_INVALID', what: 'order' });

/** @throws GradwireError `REPORT_INVALID`, which names the rank */
export const parseReport =
  <Report>(schema: z.ZodType<Report>, rank: number): Parse<Report> =>
  (raw) =>
    checkedMessage(schema, raw, {
      code: 'REPORT_INVALID',
      what: `report of rank ${rank}`,
      rank,
    });
