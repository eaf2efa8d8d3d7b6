import { expect, test } from 'vitest';
import { leftOut } from '../../../src/agent/methods/left-out.ts';
import { Arena } from '../../../src/agent/memory/arena.ts';

const arena = new Arena();

/** Values are ten times the index. */
function streamOf(indices: readonly number[]): { offset: number; count: number } {
  const count = indices.length;
  const { offset } = arena.allocate(8 * count);
  arena.u32(offset, count).set(indices);
  arena
    .f32({ offset: offset + 4 * count, length: count })
    .set(indices.map((i) => 10 * i));
  return { offset, count };
}

const partial = (indices: readonly number[]) => {
  const { offset, count } = streamOf(indices);
  const data = { offset, bytes: 8 * count };
  return { form: 'sparse', count, data, partial: true } as const;
};

test.each([
  ['nothing is kept', [1, 2, 9], [], [1, 2, 9]],
  ['all is kept, and more of others', [1, 2, 9], [0, 1, 2, 5, 9, 10], []],
  ['some is kept', [1, 2, 9, 40], [2, 40, 41], [1, 9]],
  ['only the last is left', [1, 2, 9], [1, 2, 8], [9]],
  ['nothing was sent', [], [3, 4], []],
])('%s', (_, sent, kept, left) => {
  const { offset, count } = leftOut(arena, streamOf(sent), partial(kept));
  expect([...arena.u32(offset, count)]).toEqual(left);
  const values = arena.f32({ offset: offset + 4 * count, length: count });
  expect([...values]).toEqual(left.map((index) => 10 * index));
});

test('a whole sum leaves nothing out, whatever is in it', () => {
  const { count, data } = partial([1]);
  const sent = streamOf([5, 6]);
  expect(leftOut(arena, sent, { form: 'sparse', count, data }).count).toBe(0);
  expect(leftOut(arena, sent, { form: 'dense', data }).count).toBe(0);
  expect([...arena.u32(sent.offset, 2)]).toEqual([5, 6]);
});
