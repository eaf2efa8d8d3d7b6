/** A model in stages against the same model whole. */
import { test } from 'vitest';
import { effort } from '../../harness/effort.ts';
import { expectWhole, splitModels } from './split-models.ts';

/** Two stages, and three with a tensor that the first and the last share. */
const tried = effort({
  quick: [1, 2, 5, 10, 11].map((which) => splitModels[which]!),
  soak: splitModels,
});

test.each(tried)(
  '$model split after $splitAfter has the whole model’s gradients, losses and weights',
  (given) => expectWhole(given),
);
