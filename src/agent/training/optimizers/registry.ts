/** The optimisers, by id. Adding one: its file and a line here. */
import type { Optimizer } from './optimizer.ts';
import { sgd } from './sgd.ts';

export const optimizers: ReadonlyMap<string, Optimizer> = new Map(
  [sgd].map((optimizer) => [optimizer.id, optimizer]),
);
