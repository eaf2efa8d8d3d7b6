/** Runs whose streams turn dense at a δ of their own train to the same bits. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ofType } from '../../harness/records.ts';
import { SupervisorNode } from './supervisor-node.ts';

let node: SupervisorNode;
beforeAll(async () => {
  node = await SupervisorNode.start();
});
afterAll(() => node[Symbol.asyncDispose]());

async function run(settings: readonly string[], switches: readonly string[] = []) {
  const records = await node.quickstart(
    [
      ...['backend=wasm', 'evaluateEvery=0', 'world.ranks=3', 'iterations=8'],
      ...['exchange.method=topk', 'exchange.ratio=0.2'],
      ...['exchange.collective=ssar-recursive-doubling', ...settings],
    ],
    switches,
  );
  const iterations = ofType(records, 'iteration').toSorted(
    (a, b) => a.iteration - b.iteration || a.rank - b.rank,
  );
  return {
    losses: iterations.map(({ loss }) => loss),
    switches: ofType(records, 'switch'),
  };
}

test(
  'a plan with δ, and a switch of it, change no loss',
  { tags: 'soak' },
  async () => {
    const usual = await run([]);
    const early = await run(['exchange.delta=auto'], ['4:delta=0.1']);
    expect(usual.losses).toHaveLength(24);
    expect(early.losses).toEqual(usual.losses);
    expect(early.switches.map(({ to }) => to.delta)).toEqual([0.1]);
  },
);
