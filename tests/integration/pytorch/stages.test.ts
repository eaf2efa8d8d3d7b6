/** Stages of a pipeline by PyTorch, each in a process of its own, against the whole model on WebAssembly. */
import { describe, test } from 'vitest';
import { openTrainer } from '../../../src/agent/torch/open-trainer.ts';
import { effort } from '../../harness/effort.ts';
import { pytorch } from '../../harness/python.ts';
import { expectWhole, splitModels } from '../../unit/training/split-models.ts';

/** PyTorch computes no models from files. */
const ours = splitModels.filter(({ modelSource }) => modelSource === undefined);

/** A layer split inside, with an embedding that the first and the last stage share; a table behind a split. */
const tried = effort({ quick: [ours[1]!, ours[6]!, ours[8]!], soak: ours });

describe.skipIf(pytorch === undefined)('stages by PyTorch', () => {
  test.each(tried)(
    '$model split after $splitAfter has the whole model’s gradients, losses and weights',
    (given) =>
      expectWhole(given, {
        open: openTrainer,
        options: { backend: 'torch', python: pytorch! },
        apart: 2e-5,
      }),
  );
});
