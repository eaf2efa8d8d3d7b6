/**
 * A machine that is there is changed in the app: two real servers, of which it means first the
 * one, then the other.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  test,
} from 'vitest';
import { createAppCore, type AppCore } from '../../../src/main/app/app-core.ts';
import { resolveHome } from '../../../src/main/home/home.ts';
import type { NodeEntry } from '../../../src/shared/machines/node-entry.ts';
import type { NodeStatus } from '../../../src/shared/machines/node-status.ts';
import type { OpenQuestion } from '../../../src/shared/machines/ssh-question.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { LASTING_SPEC } from '../../harness/lasting-runs.ts';
import { until, untilAsync } from '../../harness/processes.ts';
import { makeKey } from '../../harness/ssh-keys.ts';
import { SshServer } from '../../harness/sshd.ts';

const PASSPHRASE = 'correct horse';

let one: SshServer;
let two: SshServer;
let home: GradwireHome;

beforeAll(async () => {
  [one, two] = await Promise.all([SshServer.start(), SshServer.start()]);
});
afterAll(async () => {
  for (const server of [one, two]) await server?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  home = new GradwireHome();
});
afterEach(async () => {
  await home[Symbol.asyncDispose]();
});

describe('in the app', () => {
  let directory: string;
  let core: AppCore;
  let questions: readonly OpenQuestion[] = [];

  beforeEach(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'gradwire-edit-'));
    core = await createAppCore({
      home: resolveHome({ GRADWIRE_HOME: home.directory }),
      host: 'browser',
    });
    questions = [];
    core.onEvent((event, ...args) => {
      if (event === 'questionsChanged') questions = args[0] as readonly OpenQuestion[];
    });
  });
  afterEach(async () => {
    await core.close();
    await rm(directory, { recursive: true });
  });

  const entryAt = ({ port }: SshServer, key: string): NodeEntry => ({
    name: 'box',
    destination: `127.0.0.1:${port}`,
    identities: [key],
    labels: [],
  });
  const box = async (): Promise<NodeStatus> =>
    (await core.api.nodes()).find(({ entry }) => entry !== undefined)!;
  const question = async (): Promise<OpenQuestion> =>
    (
      await until(
        () => questions,
        (all) => all.length > 0,
        'a question',
      )
    )[0]!;
  const answer = async (
    to: Parameters<typeof core.api.answer>[1],
  ): Promise<unknown> => {
    const asked = await question();
    await core.api.answer(asked.id, to);
    return asked.question;
  };
  const locked = (server: SshServer, name: string): string => {
    const key = makeKey(path.join(directory, name), { passphrase: PASSPHRASE });
    server.authorize(key);
    return key;
  };

  async function checkOne(key: string): Promise<void> {
    await core.api.addNode(entryAt(one, key));
    const checked = core.api.checkNode('box');
    await answer({ type: 'accept' });
    await answer({ type: 'secrets', answers: [PASSPHRASE] });
    await checked;
  }

  test('another address closes the connection, and forgets what was known and typed', async () => {
    const key = locked(one, 'locked');
    two.authorize(key);
    await checkOne(key);
    expect((await box()).preflight).toBeDefined();
    // Its log-in is kept: nothing is asked.
    await core.api.checkNode('box');
    const shown = (await box()).entry;
    expect(one.sessions()).not.toEqual([]);

    await core.api.editNode('box', entryAt(two, key), { shown });
    await until(
      () => one.sessions(),
      (left) => left.length === 0,
      'the connection to be closed',
    );
    const { preflight, checkedAt } = await box();
    expect([preflight, checkedAt]).toEqual([undefined, undefined]);
    const checked = core.api.checkNode('box');
    expect(await answer({ type: 'accept' })).toMatchObject({
      type: 'host-key',
      reason: 'unknown',
      fingerprint: two.fingerprint(),
    });
    await answer({ type: 'secrets', answers: [PASSPHRASE] });
    await checked;
    expect(two.sessions()).not.toEqual([]);
  });

  test(
    'labels and a name leave it connected, and what was seen is seen',
    { tags: 'soak' },
    async () => {
      await checkOne(locked(one, 'named'));
      const sessions = one.sessions();
      const { entry, checkedAt } = await box();
      const changed = { ...entry!, name: 'crate', labels: ['new'] };
      await core.api.editNode('box', changed, { shown: entry });
      expect(await box()).toMatchObject({ name: 'crate', checkedAt });
      await core.api.checkNode('crate');
      expect(one.sessions()).toEqual(sessions);
      await expect(
        core.api.editNode('crate', entry, { shown: entry }),
      ).rejects.toMatchObject({ code: 'NODE_CHANGED' });
    },
  );

  test(
    'a live run is followed over the new way at once',
    { tags: 'soak' },
    async () => {
      one.authorize(one.key);
      const box = { ...entryAt(one, one.key), address: '127.0.0.1' };
      await core.api.addNode(box);
      const checked = core.api.checkNode('box');
      await answer({ type: 'accept' });
      await checked;
      const { id } = await core.api.launch({
        name: 'live',
        workload: { model: 'fnn3', dataset: 'digits' },
        world: { ranks: 2, nodes: ['this-computer', 'box'] },
        ...LASTING_SPEC,
      });
      const isAt = async (iteration: number): Promise<unknown> =>
        await untilAsync(
          () => core.api.run(id),
          ({ iterations }) => iterations > iteration,
          `iteration ${iteration}`,
        );
      await isAt(0);
      const before = one.sessions();
      const key = makeKey(path.join(directory, 'new'));
      one.authorize(key);
      await core.api.editNode('box', { ...box, identities: [key] }, { shown: box });
      await until(
        () => one.sessions(),
        (now) =>
          now.length > 0 &&
          now.every(({ pid }) => before.every((old) => old.pid !== pid)),
        'the connection to be another',
      );
      await isAt((await core.api.run(id)).iterations + 10);

      // A key that is refused is tried four more times, since its home may not be mounted yet, and
      // then not again until the user checks the machine.
      const connection = async (): Promise<string> =>
        (await core.api.nodes()).find(({ entry }) => entry !== undefined)!.connection;
      const isNow = async (state: string): Promise<unknown> =>
        await untilAsync(connection, (now) => now === state, state);
      const refusals = (): number => one.log.split('Failed publickey').length;
      const earlier = refusals();
      one.authorizeOnly(one.key);
      await one.cutSessions();
      await isNow('refused');
      expect(refusals()).toBe(earlier + 5);
      await expect(core.api.checkNode('box')).rejects.toMatchObject({
        code: 'SSH_AUTH_FAILED',
      });
      one.authorize(key);
      await core.api.checkNode('box');
      await isNow('connected');
      await isAt((await core.api.run(id)).iterations + 10);
      await core.api.order(id, { type: 'stop' });
      const ended = await untilAsync(
        () => core.api.run(id),
        ({ endedAt }) => endedAt !== undefined,
        'the run to end',
      );
      expect(ended.state).toBe('stopped');
    },
  );

  test('an open question belongs to the address that asked it', async () => {
    const key = locked(one, 'asked');
    await core.api.addNode(entryAt(one, key));
    const checking = core.api.checkNode('box');
    checking.catch(() => undefined);
    const asked = await question();
    await expect(core.api.editNode('box', entryAt(two, key), {})).rejects.toMatchObject(
      { code: 'NODE_BUSY' },
    );
    // A command does not know: the app learns of it, and withdraws what it has asked.
    const port = ['--port', String(two.port)];
    succeeded(await home.run(['nodes', 'edit', 'box', ...port]));
    await expect(checking).rejects.toMatchObject({ code: 'ABORTED' });
    expect(questions).toEqual([]);
    await expect(core.api.answer(asked.id, { type: 'accept' })).rejects.toMatchObject({
      code: 'QUESTION_GONE',
    });
    await untilAsync(
      () => box(),
      ({ activity }) => activity === undefined,
      'the check to be over',
    );
    expect((await box()).error).toBeUndefined();
  });
});
