/** An order that is not ours: each rank greets. */
import { z } from 'zod';
import type { OrderAction } from '../../../src/agent/exchange/order-actions.ts';
import { nothingMore, orderDefinition } from '../../../src/shared/orders/order.ts';

const words = z.object({ text: z.string().min(1).max(100) });

export const greet = orderDefinition({
  type: 'greet',
  asked: words,
  answer: nothingMore,
  told: words,
  asks: 'all',
  isReading: false,
});

export const greeting: OrderAction<{ readonly text: string }> = (engine, { text }) => {
  engine.note({ level: 'info', code: 'GREETED', message: text });
};
