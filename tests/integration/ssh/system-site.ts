/** A real sshd for the system's `ssh`, and answers to its questions. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import type { SshOpenOptions } from '../../../src/main/ssh/remote-connection.ts';
import { SystemSshConnection } from '../../../src/main/ssh/system-connection.ts';
import type {
  HostKeyQuestion,
  SecretsQuestion,
  SshQuestions,
} from '../../../src/shared/machines/ssh-question.ts';
import { SshServer } from '../../harness/sshd.ts';
import { systemTarget } from './system-host.ts';

/** One sshd, with a directory for the files of connections to it. */
export class SystemSite implements AsyncDisposable {
  readonly server: SshServer;
  readonly directory = mkdtempSync(path.join(tmpdir(), 'gradwire-system-'));

  private constructor(server: SshServer) {
    this.server = server;
  }

  static async start(): Promise<SystemSite> {
    return new SystemSite(await SshServer.start());
  }

  async open(
    lines: readonly string[] = [],
    questions?: SshQuestions,
    options: SshOpenOptions = {},
    to = this.server,
  ): Promise<SystemSshConnection> {
    return await SystemSshConnection.open(await systemTarget(to, lines), questions, {
      directory: this.directory,
      ...options,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    // What a connection needs while it lives is gone with it.
    expect(
      readdirSync(this.directory).filter((name) => name.startsWith('gradwire-ssh-')),
    ).toEqual([]);
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export function asks(
  answers: readonly (readonly string[] | undefined)[],
  hostKey: 'accept' | 'refuse' = 'refuse',
): SshQuestions & {
  readonly keys: HostKeyQuestion[];
  readonly secretsAsked: SecretsQuestion[];
} {
  const keys: HostKeyQuestion[] = [];
  const secretsAsked: SecretsQuestion[] = [];
  return {
    keys,
    secretsAsked,
    hostKey: (question) => {
      keys.push(question);
      return Promise.resolve(hostKey);
    },
    secrets: (question) => {
      secretsAsked.push(question);
      return Promise.resolve(answers[secretsAsked.length - 1]);
    },
  };
}
