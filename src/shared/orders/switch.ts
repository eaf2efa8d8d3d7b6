/** Change the exchange: at the next fence, or at a chosen one. */
import { z } from 'zod';
import { orderDefinition } from './order.ts';
import { planSwitchSchema, switchRequestSchema } from '../plan/plan-schemas.ts';

const planned = z.object({ switch: planSwitchSchema });

export const switchOrder = orderDefinition({
  type: 'switch',
  asked: switchRequestSchema,
  /** The switch as it was checked, numbered with its epoch before any rank receives it. */
  answer: planned,
  told: planned,
  asks: 'lead',
  isReading: false,
});
