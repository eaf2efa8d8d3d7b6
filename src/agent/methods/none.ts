/**
 * No compression: the gradient itself travels, in place. The baseline that every other
 * method is compared with, so it must cost nothing beyond the division by P.
 */
import { z } from 'zod';
import { DenseExchange } from './dense-exchange.ts';
import { denseSum } from './expected-messages.ts';
import type { MethodDefinition } from './method.ts';

const parameters = z.strictObject({});

export const none: MethodDefinition<typeof parameters> = {
  id: 'none',
  title: 'None (dense)',
  summary: 'Every element of the gradient, as 32-bit floats.',
  source: 'Synchronous data-parallel SGD',
  suits:
    'Networks that are faster than compression, such as one machine’s memory, and small models.',
  parameters,
  uncompressed: true,
  payload: 'dense',
  reducible: true,
  residual: 'none',
  replicas: 'identical',
  messages: (_parameters, { length }) => [denseSum(length)],
  create: (context) => new DenseExchange(none.id, context),
};
