/** Values of a pinned iteration that are worth a mark. */
import { expect, test } from 'vitest';
import {
  shownColumns,
  type PinnedColumn,
} from '../../../src/renderer/charts/pinned-columns.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import { iterationRecord } from './records.ts';

const LOSS: PinnedColumn = { title: 'loss', value: ({ loss }) => loss, text: String };

/** Whether each rank's loss is marked; undefined: the column is not shown. */
function marked(losses: readonly (number | undefined)[]) {
  const records = losses.map((own, rank): IterationRecord => {
    const { loss, ...rest } = iterationRecord({ rank, iteration: 0, loss: own ?? 1 });
    return own === undefined ? rest : { ...rest, loss: loss! };
  });
  const [column] = shownColumns([LOSS], records);
  return column && losses.map((loss) => loss !== undefined && loss > column.much);
}

test.each([
  ['the only one of a pipeline is not', [undefined, undefined, undefined, 2.3], []],
  ['one far above the others is', [1, 1.1, undefined, 2], [3]],
  ['those below zero are not', [-2, -2.1, -1.9], []],
  ['one far above others below zero is', [-2, -2.1, -1], [2]],
])('of losses, %s marked', (_, losses, places) => {
  expect(marked(losses)).toEqual(losses.map((__, rank) => places.includes(rank)));
});

test('a column in which no rank has something is not shown', () => {
  expect(marked([undefined, undefined])).toBeUndefined();
  expect(marked([0, undefined])).toBeUndefined();
});
