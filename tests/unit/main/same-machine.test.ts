/** Two names of one machine are recognised by its supervisor. */
import { expect, test } from 'vitest';
import { sameMachine } from '../../../src/main/cluster/same-machine.ts';

const link = (name: string, instance?: string) => ({
  name,
  connection: { hello: { instance, host: 'gpu1', pid: 12 } } as never,
});
const next = (first: string, second: string): string => `${first}, not ${second}`;

test('the first two that lead to one supervisor are named', () => {
  const links = [link('box', 'a'), link('lab', 'b'), link('box.lab', 'a')];
  expect(sameMachine(links, next)?.toData()).toEqual({
    code: 'NODES_SAME',
    kind: 'input',
    message:
      'box and box.lab are the same machine: gpu1, with one supervisor (process 12)',
    place: 'box.lab',
    next: 'box, not box.lab',
  });
});

test('machines with a supervisor each, of an older version, or out of reach are different', () => {
  const away = { name: 'away', connection: undefined };
  const links = [link('a', 'a'), link('b', 'b'), link('c'), link('d'), away, away];
  expect(sameMachine(links, next)).toBeUndefined();
});
