/** Runs of others on a machine that the app is connected to: they come and go on its card. */
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAppCore, type AppCore } from '../../../src/main/app/app-core.ts';
import { resolveHome } from '../../../src/main/home/home.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import type { NodeStatus } from '../../../src/shared/machines/node-status.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { LASTING_ALONE } from '../../harness/lasting-runs.ts';
import { until } from '../../harness/processes.ts';
import { SshServer } from '../../harness/sshd.ts';

let server: SshServer;
let own: GradwireHome;
let other: GradwireHome;
let core: AppCore;
let nodes: readonly NodeStatus[] = [];

beforeAll(async () => {
  // Node is there, so that the agent alone is brought along.
  const shellStart = `export PATH=${path.dirname(process.execPath)}:$PATH\n`;
  server = await SshServer.start({ shellStart });
  own = new GradwireHome();
  other = new GradwireHome();
  const host = ['--host', '127.0.0.1', '--port', String(server.port)];
  for (const home of [own, other]) {
    succeeded(
      await home.run(['nodes', 'add', 'box', ...host, '--identity', server.key]),
    );
    const accept = ['--accept-host-key', server.fingerprint()];
    succeeded(await home.run(['nodes', 'check', 'box', ...accept]));
  }
  core = await createAppCore({
    home: resolveHome({ GRADWIRE_HOME: own.directory }),
    host: 'browser',
  });
  core.onEvent((event, ...args) => {
    if (event === 'nodesChanged') nodes = args[0] as readonly NodeStatus[];
  });
});
afterAll(async () => {
  await core?.close();
  await own?.[Symbol.asyncDispose]();
  await other?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

const found = (): readonly string[] | undefined =>
  nodes.find(({ name }) => name === 'box')?.found?.map(({ id }) => id);

test(
  'a run of another app is listed while it runs there, without a check',
  { tags: 'soak' },
  async () => {
    await core.api.launch(
      parseExperimentSpec({
        workload: { model: 'fnn3', dataset: 'digits' },
        world: { ranks: 1, nodes: ['box'] },
        iterations: 3,
        evaluateEvery: 0,
        backend: 'wasm',
      }),
    );
    const { stdout } = succeeded(
      await other.run([
        ...['run', 'quickstart', '--detach', '--set', 'world.nodes=[box]'],
        ...LASTING_ALONE.flatMap((setting) => ['--set', setting]),
      ]),
    );
    const id = stdout.trim();
    await until(found, (runs) => runs?.includes(id) === true, 'the run to be listed');
    succeeded(await other.run(['runs', 'stop', id]));
    await until(
      found,
      (runs) => runs?.includes(id) === false,
      'it to go from the list',
    );
    expect(found()).toEqual([]);
  },
);
