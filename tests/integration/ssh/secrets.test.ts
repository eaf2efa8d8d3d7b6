/**
 * Where secrets must not be seen: in the arguments and environments of processes, in files
 * of the home, in error messages. The account's owner looks through all of them while the
 * connection is open and after it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { SshConnection } from '../../../src/main/ssh/connection.ts';
import { toErrorData } from '../../../src/shared/errors/errors.ts';
import type { SshQuestions } from '../../../src/shared/machines/ssh-question.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { LASTING_ALONE } from '../../harness/lasting-runs.ts';
import { makeKey } from '../../harness/ssh-keys.ts';
import { passwordsMissing, SshServer } from '../../harness/sshd.ts';
import { filesWith, processesWith } from '../../harness/traces.ts';

function answers(passphrase: string, password: string): SshQuestions {
  return {
    hostKey: () => Promise.resolve('accept'),
    secrets: ({ kind, prompts }) =>
      Promise.resolve(
        prompts.map(() => (kind === 'passphrase' ? passphrase : password)),
      ),
  };
}

it.skipIf(passwordsMissing() !== undefined)(
  'a passphrase and a password are seen nowhere',
  async () => {
    // Made here, so that no shell or test runner has them in its arguments.
    const secret = (): string => crypto.randomUUID().replaceAll('-', '');
    const [passphrase, password, wrong] = [secret(), secret(), secret()];
    const home = mkdtempSync(path.join(tmpdir(), 'gradwire-secrets-'));
    await using server = await SshServer.start({
      password,
      config: ['AuthenticationMethods publickey,password'],
    });
    const key = makeKey(path.join(server.directory, 'locked'), { passphrase });
    server.authorize(key);
    const target = server.target({
      identities: [key],
      strictHostKeyChecking: 'ask',
      userKnownHosts: [],
    });
    const options = { acceptedHostKeys: path.join(home, 'known_hosts') };
    try {
      await using connection = await SshConnection.open(
        target,
        answers(passphrase, password),
        options,
      );
      expect((await connection.run('env; ps -ef')).stdout).not.toMatch(
        new RegExp(`${passphrase}|${password}`),
      );
      const running = await connection.stream('cat');
      const errors: string[] = [];
      for (const [first, second] of [
        [wrong, password],
        [passphrase, wrong],
      ] as const) {
        const refused: unknown = await SshConnection.open(
          target,
          answers(first, second),
          options,
        ).catch((error: unknown) => error);
        const { stack, cause } = refused as Error;
        errors.push(JSON.stringify(toErrorData(refused)), String(stack), String(cause));
      }
      expect(errors.join()).toContain('SSH_AUTH_FAILED');
      for (const text of [passphrase, password, wrong]) {
        expect(errors.join()).not.toContain(text);
        expect(processesWith(text)).toEqual([]);
        expect(filesWith(home, text)).toEqual([]);
      }
      // The search finds what is there.
      expect(processesWith(`HOME=${server.home}`)).not.toEqual([]);
      expect(filesWith(home, server.hostKey())).toEqual([options.acceptedHostKeys]);
      running.end();
    } finally {
      rmSync(home, { recursive: true });
    }
  },
);

it.skipIf(passwordsMissing() !== undefined)(
  'the password of a machine that trains is in no database, log or file there',
  { tags: 'soak' },
  async () => {
    const password = crypto.randomUUID().replaceAll('-', '');
    await using server = await SshServer.start({
      password,
      shellStart: `export PATH=${path.dirname(process.execPath)}:$PATH\n`,
      config: ['AuthenticationMethods password'],
    });
    await using home = new GradwireHome();
    const host = ['--host', '127.0.0.1', '--port', String(server.port)];
    succeeded(await home.run(['nodes', 'add', 'box', ...host]));
    const settings = ['world.nodes=[box]', ...LASTING_ALONE];
    const command = home.start([
      ...['run', 'quickstart', '--json', '--password-stdin'],
      ...['--accept-host-key', server.fingerprint()],
      ...settings.flatMap((setting) => ['--set', setting]),
    ]);
    command.child.stdin!.end(`${password}\n`);
    await command.record('iteration', ({ iteration }) => iteration === 5);
    const expectNone = (): void => {
      const bytes = Buffer.from(password);
      for (const wanted of [bytes, bytes.toString('hex'), bytes.toString('base64')]) {
        expect(processesWith(wanted)).toEqual([]);
        for (const directory of [home.directory, server.home]) {
          expect(filesWith(directory, wanted)).toEqual([]);
        }
      }
    };
    expectNone();
    command.child.kill('SIGINT');
    const { stderr } = await command.finished;
    expect(stderr + server.log).not.toContain(password);
    expectNone();
    // The search looks into the database, and at what runs and lies on the machine.
    const known = filesWith(home.directory, server.hostKey());
    expect(known.map((file) => path.basename(file))).toEqual(['known_hosts']);
    const stored = filesWith(home.directory, 'evaluateEvery');
    expect(stored.map((file) => path.basename(file)).join()).toContain('gradwire.db');
    expect(filesWith(server.home, 'evaluateEvery')).not.toEqual([]);
  },
);
