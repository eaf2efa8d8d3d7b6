/** A program whose ranks are on two machines, one of them reached by SSH. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { ofType } from '../../harness/records.ts';
import { NODES, TwoHomes } from '../cluster/two-homes.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';

const script = path.join(import.meta.dirname, 'scripted-program.ts');

test('each finds its place among the ranks of its machine, and all average', async () => {
  await using world = await TwoHomes.open();
  const { coordinator } = world;
  const { id } = await coordinator.launches.launch(
    parseExperimentSpec({
      name: 'a program on two machines',
      workload: {
        command: [process.execPath, script, '20', 'places'],
        workdir: '/',
        copy: false,
      },
      world: { ranks: 3, nodes: NODES },
    }),
  );
  const summary = await coordinator.following.ended(id);
  expect(summary).toMatchObject({ state: 'completed', iterations: 20 });
  const { records } = world;
  expect(ofType(records, 'iteration')).toHaveLength(60);
  expect(ofType(records, 'done')).toMatchObject([{ consistent: true }]);
  const places = ofType(records, 'log')
    .filter(({ text }) => text.startsWith('place'))
    .map(({ rank, text }) => `${rank}: ${text}`);
  expect(places.toSorted()).toEqual([
    '0: place 0 of 2',
    '1: place 1 of 2',
    '2: place 0 of 1',
  ]);
});
