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
import { toErrorData } from '../../../src/shared/errors.ts';
import type { SshQuestions } from '../../../src/shared/ssh-question.ts';
import { makeKey, passwordsMissing, SshServer } from '../../harness/sshd.ts';
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
