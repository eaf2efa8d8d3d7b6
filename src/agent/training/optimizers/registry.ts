/** The optimisers, by id. Adding one: its file and a line here. */
import { adagrad } from './adagrad.ts';
import { adam, adamw } from './adam.ts';
import { lars } from './lars.ts';
import type { Optimizer } from './optimizer.ts';
import { sgd } from './sgd.ts';

export const optimizers: ReadonlyMap<string, Optimizer> = new Map(
  [sgd, adagrad, adam, adamw, lars].map((optimizer) => [optimizer.id, optimizer]),
);
