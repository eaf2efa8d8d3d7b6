/** Passwords and prompts, against a real sshd, and against ssh2's own server where sshd needs PAM. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SshConnection } from '../../../src/main/ssh/connection.ts';
import type { SshQuestions } from '../../../src/shared/machines/ssh-question.ts';
import { RememberedSecrets } from '../../../src/main/ssh/remembered-secrets.ts';
import { SshAgent } from '../../harness/ssh-keys.ts';
import { passwordsMissing, SshServer, testUser } from '../../harness/sshd.ts';
import { ScriptedSshServer } from './scripted-ssh-server.ts';
import { answering, whoIs } from './log-ins.ts';

describe.skipIf(passwordsMissing() !== undefined)('a password', () => {
  const password = 'battery staple';
  let asking: SshServer;
  const open = (
    questions: SshQuestions | undefined,
    options: { secrets?: RememberedSecrets; interactive?: boolean } = {},
  ) => SshConnection.open(asking.target({ identities: [] }), questions, options);

  beforeAll(async () => {
    asking = await SshServer.start({
      password,
      config: ['KbdInteractiveAuthentication no'],
    });
  });
  afterAll(async () => {
    await asking?.[Symbol.asyncDispose]();
  });

  it('lets in, the second time too', async () => {
    const questions = answering(['wrong'], [password]);
    expect(await whoIs(open(questions))).toBe(testUser);
    expect(questions.asked[0]).toEqual({
      host: '127.0.0.1',
      port: asking.port,
      user: testUser,
      kind: 'password',
      prompts: [
        { text: `Password for ${testUser}@127.0.0.1:${asking.port}:`, echo: false },
      ],
    });
    expect(questions.asked[1]).toMatchObject({
      instruction: 'That password was refused.',
    });
  });

  it('is asked for three times at most', async () => {
    const questions = answering(['a'], ['b'], ['c'], [password]);
    await expect(open(questions)).rejects.toMatchObject({
      code: 'SSH_AUTH_FAILED',
      message: expect.stringContaining('tried password, password, password') as string,
    });
    expect(questions.asked).toHaveLength(3);
  });

  it('is remembered once it was right, and not when it was wrong', async () => {
    const secrets = new RememberedSecrets();
    await (await open(answering(['wrong'], [password]), { secrets })).close();
    expect(await whoIs(open(undefined, { secrets }))).toBe(testUser);
    const others = new RememberedSecrets();
    others.keepPassword(`${testUser}@127.0.0.1:${asking.port}`, 'old');
    await expect(open(undefined, { secrets: others })).rejects.toMatchObject({
      code: 'SSH_AUTH_NEEDED',
      message: 'the log-in needs a password, but Gradwire cannot prompt for input now',
    });
    expect(others.password(`${testUser}@127.0.0.1:${asking.port}`)).toBeUndefined();
  });

  it('is not asked for in the background', async () => {
    const questions = answering([password]);
    await expect(open(questions, { interactive: false })).rejects.toMatchObject({
      code: 'SSH_AUTH_NEEDED',
    });
    expect(questions.asked).toEqual([]);
  });
});

describe.skipIf(passwordsMissing() !== undefined)('keyboard-interactive', () => {
  const password = 'battery staple';

  it('comes after a key where the server wants both', async () => {
    await using asking = await SshServer.start({
      password,
      config: ['AuthenticationMethods publickey,keyboard-interactive'],
    });
    await using agent = await SshAgent.start([asking.key]);
    for (const target of [
      asking.target(),
      asking.target({ identities: [], agent: agent.socket }),
    ]) {
      const questions = answering([password]);
      expect(await whoIs(SshConnection.open(target, questions))).toBe(testUser);
      expect(questions.asked).toMatchObject([
        { kind: 'keyboard-interactive', prompts: [{ text: 'Password:', echo: false }] },
      ]);
    }
    await expect(SshConnection.open(asking.target())).rejects.toMatchObject({
      code: 'SSH_AUTH_NEEDED',
      message:
        'the log-in needs answers to its prompts, but Gradwire cannot prompt for input now',
    });
    await expect(
      SshConnection.open(asking.target(), answering()),
    ).rejects.toMatchObject({ code: 'SSH_AUTH_CANCELLED' });
  });
});

it.skipIf(passwordsMissing() !== undefined)(
  'a password that PAM asks for is remembered as one, and forgotten when it is refused',
  async () => {
    const password = 'battery staple';
    await using asking = await SshServer.start({
      password,
      config: ['PasswordAuthentication no'],
    });
    const target = asking.target({ identities: [] });
    const secrets = new RememberedSecrets();
    await (
      await SshConnection.open(target, answering([password]), { secrets })
    ).close();
    expect(await whoIs(SshConnection.open(target, undefined, { secrets }))).toBe(
      testUser,
    );
    const place = `${testUser}@127.0.0.1:${asking.port}`;
    secrets.keepPassword(place, 'old');
    await expect(
      SshConnection.open(target, undefined, { secrets }),
    ).rejects.toMatchObject({ code: 'SSH_AUTH_NEEDED' });
    expect(secrets.password(place)).toBeUndefined();
  },
);

it('a server that asks in several rounds is answered in each, one question at a time', async () => {
  await using scripted = await ScriptedSshServer.start([
    {
      title: 'Cluster\u001b[2J',
      instruction: 'First factor',
      prompts: [
        { prompt: 'User code: ', echo: true },
        { prompt: 'PIN: ', echo: false },
      ],
      answers: ['123', '456'],
    },
    // Something to read, with nothing to answer.
    { title: '', instruction: 'Well done', prompts: [], answers: [] },
    {
      title: '',
      instruction: 'Second factor',
      prompts: [{ prompt: 'Password: ', echo: false }],
      answers: ['789'],
    },
  ]);
  const questions = answering(['0', '0'], ['123', '456'], ['789']);
  const secrets = new RememberedSecrets();
  const target = scripted.target();
  await using connection = await SshConnection.open(target, questions, { secrets });
  expect(connection.isOpen).toBe(true);
  expect(questions.asked).toHaveLength(3);
  expect(questions.asked[0]).toEqual({
    host: '127.0.0.1',
    port: target.port,
    user: 'ada',
    kind: 'keyboard-interactive',
    // What could drive a terminal is gone.
    title: 'Cluster [2J',
    instruction: 'First factor',
    prompts: [
      { text: 'User code:', echo: true },
      { text: 'PIN:', echo: false },
    ],
  });
  expect(questions.asked[2]).toMatchObject({ instruction: 'Second factor' });
  // Codes are good once.
  expect(secrets.password(`ada@127.0.0.1:${target.port}`)).toBeUndefined();
});
