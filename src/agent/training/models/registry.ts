/** The models, by id. Adding one: its file and a line here. */
import { fnn3 } from './fnn3.ts';
import type { Model } from './model.ts';

export const models: ReadonlyMap<string, Model> = new Map(
  [fnn3].map((model) => [model.id, model]),
);
