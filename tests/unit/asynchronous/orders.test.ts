import { expect, it } from 'vitest';
import {
  decodeOrder,
  decodeReply,
  encodeOrder,
  encodeReply,
  FORMS,
  ORDER_BYTES,
  REPLY_BYTES,
  type Order,
} from '../../../src/agent/asynchronous/orders.ts';

const orders: readonly Order[] = [
  ...FORMS.map((form) => ({
    kind: 'share' as const,
    iteration: 2 ** 40,
    bucket: 3,
    form,
    bytes: 2 ** 33,
    lr: 0.1,
  })),
  { kind: 'leftover', lr: 1e-9 },
  { kind: 'pushed', iteration: 7, wantsMeeting: true, asks: 2 ** 40 },
  { kind: 'pushed', iteration: 0, wantsMeeting: false, asks: 0 },
  { kind: 'pushed', iteration: 3, wantsMeeting: false },
  { kind: 'ask', iteration: 2 ** 40 },
  { kind: 'meet' },
];

it.each(orders)('an order is read as it was written: %j', (order) => {
  const bytes = encodeOrder(order);
  expect(bytes).toHaveLength(ORDER_BYTES);
  expect(decodeOrder(bytes)).toEqual(order);
});

it.each([
  { meets: true, version: 5 },
  { meets: false, version: 2 ** 40 },
])('so is a reply: %j', (reply) => {
  const bytes = encodeReply(reply);
  expect(bytes).toHaveLength(REPLY_BYTES);
  expect(decodeReply(bytes)).toEqual(reply);
});
