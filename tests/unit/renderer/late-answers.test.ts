/** Answers of the host that come after something newer. */
import { expect, test } from 'vitest';
import { ClusterState } from '../../../src/renderer/state/cluster/cluster.svelte.ts';
import { ComparedRuns } from '../../../src/renderer/state/comparison/compared-runs.svelte.ts';
import { ExperimentDraft } from '../../../src/renderer/state/experiment/experiment-draft.svelte.ts';
import { Toasts } from '../../../src/renderer/state/page/toasts.svelte.ts';
import type { ComparedRun } from '../../../src/shared/comparison/compared-run.ts';
import type { NodeStatus } from '../../../src/shared/machines/node-status.ts';
import type { Preset } from '../../../src/shared/rpc/rpc.ts';
import { ScriptedHost, settle } from './scripted-host.ts';

const compared = (id: string, state: string): ComparedRun =>
  ({ summary: { id, state } }) as unknown as ComparedRun;

test('a run that is taken back into a comparison is read again', async () => {
  const host = new ScriptedHost();
  const runs = new ComparedRuns(host.connection);
  runs.show(['a', 'b']);
  await host.next('comparedRun').answer(compared('a', 'running'));
  await host.next('comparedRun').answer(compared('b', 'completed'));
  runs.show(['b']);
  // Its end is not told: it is not compared now.
  runs.show(['a', 'b']);
  const asked = host.waiting('comparedRun');
  expect(asked.map(({ args }) => args)).toEqual([['a']]);
  await asked[0]!.answer(compared('a', 'completed'));
  expect(runs.runs).toEqual([compared('a', 'completed'), compared('b', 'completed')]);
  runs.close();
});

test('a machine that was told of is not replaced by an answer from before', async () => {
  const host = new ScriptedHost();
  const cluster = new ClusterState(host.connection, new Toasts());
  const box = (activity?: string) =>
    [{ name: 'box', activity }] as unknown as NodeStatus[];
  const loading = cluster.load();
  await host.next('nodes').answer(box('check'));
  host.tell('nodesChanged', box());
  await host.next('network').fail(new Error('busy'));
  await host.next('questions').answer([]);
  await loading;
  expect(cluster.nodes).toEqual(box());
  cluster.close();
});

const spec = { name: 'usual', world: { ranks: 4 } };
const preset = { id: 'usual', spec, yaml: 'ranks: 4' } as unknown as Preset;

/** A draft that begins with the preset, whose check has not been answered. */
function beginDraft(host: ScriptedHost) {
  const draft = new ExperimentDraft({
    api: host.connection.api,
    catalogue: undefined,
    launch: async () => undefined,
  });
  return { draft, beginning: draft.beginWithPreset([preset], 'usual') };
}

test('typed text is not replaced by the text of a form from before', async () => {
  const host = new ScriptedHost();
  const { beginning, draft } = beginDraft(host);
  draft.change('world.ranks', 2);
  draft.type('ranks: 8 # mine');
  await host.next('specToYaml').answer('ranks: 2');
  await host.next('checkSpec').answer({ ok: true, spec, yaml: 'ranks: 4' });
  await beginning;
  expect(draft.yaml).toBe('ranks: 8 # mine');
  draft.close();
});

test('a value that is chosen while a preset is checked stays', async () => {
  const host = new ScriptedHost();
  const { beginning, draft } = beginDraft(host);
  draft.change('world.ranks', 8);
  draft.change('world.ranks', 2);
  await host.next('checkSpec').answer({ ok: true, spec, yaml: 'ranks: 4' });
  await host.next('specToYaml').answer('ranks: 8');
  await host.next('specToYaml').answer('ranks: 2');
  await beginning;
  await settle();
  expect(draft.draft).toEqual({ name: 'usual', world: { ranks: 2 } });
  expect(draft.yaml).toBe('ranks: 2');
  draft.close();
});
