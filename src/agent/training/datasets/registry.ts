/** The data sets, by id. Adding one: its file and a line here. */
import type { Dataset } from './dataset.ts';
import { digits } from './digits.ts';
import { mnist } from './mnist.ts';

export const datasets: ReadonlyMap<string, Dataset> = new Map(
  [digits, mnist].map((dataset) => [dataset.id, dataset]),
);
