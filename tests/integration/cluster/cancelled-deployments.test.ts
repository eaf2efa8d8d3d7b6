/** Deployments that a run needs are shown, at the command line and in the app, and can be cancelled. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAppCore, type AppCore } from '../../../src/main/app/app-core.ts';
import { resolveHome } from '../../../src/main/home/home.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import type { NodeStatus } from '../../../src/shared/machines/node-status.ts';
import { effort } from '../../harness/effort.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { processesWith, until, untilAsync } from '../../harness/processes.ts';
import { SshServer } from '../../harness/sshd.ts';

const RUN = ['world.nodes=[this-computer, box]', 'world.ranks=2', 'iterations=3'];

let server: SshServer;
let home: GradwireHome;

beforeAll(async () => {
  server = await SshServer.start({ shellStart: 'PATH=$HOME/bin:$PATH' });
  // Takes an upload too slowly for it to end before it is cancelled, and stops when told to.
  mkdirSync(path.dirname(cat()));
  const slow =
    `#!/bin/sh\nhead -c 100000\nwhile [ ! -e '${stop()}' ] && ` +
    '[ "$(head -c 20000 | wc -c)" -gt 0 ]; do sleep 0.5; done\n';
  writeFileSync(cat(), slow, { mode: 0o755 });
  home = new GradwireHome();
  const host = ['--host', '127.0.0.1', '--port', String(server.port)];
  succeeded(await home.run(['nodes', 'add', 'box', ...host, '--identity', server.key]));
  const accept = ['--accept-host-key', server.fingerprint()];
  succeeded(await home.run(['nodes', 'check', 'box', ...accept]));
});
afterAll(async () => {
  await home?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

const cat = (): string => path.join(server.home, 'bin', 'cat');
const stop = (): string => path.join(server.home, 'stop');
const base = (): string => path.join(server.home, '.gradwire');

const incoming = (): readonly string[] => {
  const folder = path.join(base(), 'incoming');
  return existsSync(folder) ? readdirSync(folder) : [];
};

/** Bytes of the longest file that an upload has left or is writing. */
const longest = (): number =>
  Math.max(
    0,
    ...incoming().map(
      (name) =>
        statSync(path.join(base(), 'incoming', name), { throwIfNoEntry: false })
          ?.size ?? 0,
    ),
  );

/** Resolves when an upload has gone on beyond what was there before it. */
const sendsMore = (before: number): Promise<number> =>
  until(longest, (bytes) => bytes > before, 'the upload');

/** Nothing there looks whole; the next deployment begins with what was sent. */
async function expectNoAgent(): Promise<void> {
  // What is still being written is not taken over by the next upload.
  writeFileSync(stop(), '');
  await until(
    () => processesWith(`HOME=${server.home}`, cat()),
    (writing) => writing.length === 0,
    'the cancelled upload’s cat to end',
  );
  rmSync(stop());
  expect(existsSync(path.join(base(), 'agents'))).toBe(false);
  // What is no longer needed is deleted after the cancellation.
  await until(
    incoming,
    (files) => files.length <= 1 && files.every((name) => name.endsWith('.tar.gz')),
    'at most one file to be left',
  );
}

describe('at the command line', () => {
  const beside: [string, string[]] = ['beside this computer', RUN];
  const leads: [string, string[]] = [
    'that leads',
    ['world.nodes=[box]', 'world.ranks=1', 'iterations=3'],
  ];
  test.each(effort({ quick: [beside], soak: [beside, leads] }))(
    'Ctrl-C cancels a deployment to a machine %s',
    async (_, settings) => {
      const before = longest();
      const command = home.startQuickstart(settings);
      // What an earlier one sent is there already.
      await until(
        () => command.stderr,
        (text) => text.includes('uploading'),
        'the upload to be announced',
      );
      await sendsMore(before);
      command.child.kill('SIGINT');
      const { code, stderr, stdout } = await command.finished;
      expect({ code, stdout }).toEqual({
        code: 130,
        stdout: expect.any(String) as string,
      });
      // That all is there is not said; what takes long is.
      expect(stderr).toMatch(/^box: uploading the agent \(\d+\.\d MiB\)\n/);
      await expectNoAgent();
    },
  );
});

describe('in the app', () => {
  let core: AppCore;
  let nodes: readonly NodeStatus[] = [];

  beforeAll(async () => {
    core = await createAppCore({
      home: resolveHome({ GRADWIRE_HOME: home.directory }),
      host: 'browser',
    });
    core.onEvent((event, ...args) => {
      if (event === 'nodesChanged') nodes = args[0] as readonly NodeStatus[];
    });
  });
  afterAll(async () => {
    await core?.close();
  });

  const box = (): NodeStatus | undefined => nodes.find(({ name }) => name === 'box');
  const launch = (): Promise<unknown> =>
    core.api.launch(
      parseExperimentSpec({
        workload: { model: 'fnn3', dataset: 'digits' },
        world: { ranks: 2, nodes: ['this-computer', 'box'] },
        iterations: 3,
        evaluateEvery: 0,
        backend: 'wasm',
      }),
    );

  test('a card cancels the deployment that a run waits for, and the run says so', async () => {
    const before = longest();
    const launched = launch().then(
      () => undefined,
      (error: unknown) => error,
    );
    const { activity } = (await untilAsync(
      () => Promise.resolve(box()),
      (shown) => shown?.activity?.progress !== undefined,
      'the deployment',
    ))!;
    expect(activity?.kind).toBe('deploy');
    await sendsMore(before);
    await core.api.cancelNode('box');
    expect(await launched).toMatchObject({ code: 'ABORTED' });
    await until(
      () => box()?.activity,
      (left) => left === undefined,
      'the card to be free',
    );
    await expectNoAgent();
    const [run] = await core.api.runs({ limit: 1 });
    expect(run).toMatchObject({ state: 'failed', error: { code: 'ABORTED' } });
  });

  test(
    'uninstalling is cancelled before anything is removed',
    { tags: 'soak' },
    async () => {
      rmSync(cat());
      await core.api.deployNode('box');
      const agents = readdirSync(path.join(base(), 'agents'));
      const uninstalled = core.api.uninstallNode('box').then(
        () => undefined,
        (error: unknown) => error,
      );
      await core.api.cancelNode('box');
      expect(await uninstalled).toMatchObject({ code: 'ABORTED' });
      expect(readdirSync(path.join(base(), 'agents'))).toEqual(agents);
      await core.api.uninstallNode('box');
      expect(existsSync(base())).toBe(false);
    },
  );
});
