/** Servers that close what nothing was sent over for a while (OpenSSH 9.2 and later). */
import path from 'node:path';
import { expect, test } from 'vitest';
import { SshConnection } from '../../../src/main/ssh/connection.ts';
import { SshPool } from '../../../src/main/ssh/pool.ts';
import { runScript } from '../../../src/main/ssh/remote-script.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { until } from '../../harness/processes.ts';
import { ofType } from '../../harness/records.ts';
import { SshServer } from '../../harness/sshd.ts';

test(
  'a connection that the server closed while nobody used it is made again',
  { tags: 'soak' },
  async () => {
    await using server = await SshServer.start({
      config: ['UnusedConnectionTimeout 1'],
    });
    await using pool = new SshPool();
    for (let round = 0; round < 2; round++) {
      using lease = await pool.acquire(server.target());
      expect((await lease.connection.run('echo in')).stdout).toBe('in\n');
      await until(
        () => server.sessions(),
        (left) => left.length === 0,
        'the server to close the unused connection',
      );
      expect((await lease.connection.closed).error).toMatchObject({
        code: 'SSH_CONNECTION_LOST',
        message: 'lost the connection: it was closed',
      });
    }
  },
);

test('a channel that the server closes because its script is silent is named', async () => {
  await using server = await SshServer.start({
    config: ['ChannelTimeout *=1 session:*=1'],
  });
  await using connection = await SshConnection.open(server.target());
  await expect(runScript(connection, 'sleep 3')).rejects.toMatchObject({
    code: 'SSH_CHANNEL_CLOSED',
    message: 'the server closed the channel of the script before it had ended',
    next: expect.stringContaining('ChannelTimeout') as string,
  });
  expect((await runScript(connection, 'echo in time')).stdout).toBe('in time\n');
});

test('one that it closes while start files are slow is named, too', async () => {
  await using server = await SshServer.start({
    shellStart: '[ -e "$HOME/slow" ] || { : > "$HOME/slow"; sleep 3; }\n',
    config: ['ChannelTimeout *=1 session:*=1'],
  });
  await using connection = await SshConnection.open(server.target());
  await expect(runScript(connection, 'echo in')).rejects.toMatchObject({
    code: 'SSH_CHANNEL_CLOSED',
  });
});

test(
  'a run goes on whose channel the server closes because nothing is recorded',
  { tags: 'soak' },
  async () => {
    const shellStart = `export PATH=${path.dirname(process.execPath)}:$PATH\n`;
    await using server = await SshServer.start({
      shellStart,
      config: ['ChannelTimeout session:*=4', 'LogLevel DEBUG1'],
    });
    await using home = new GradwireHome();
    const host = ['--host', '127.0.0.1', '--port', String(server.port)];
    succeeded(
      await home.run(['nodes', 'add', 'box', ...host, '--identity', server.key]),
    );
    const accept = ['--accept-host-key', server.fingerprint()];
    succeeded(await home.run(['nodes', 'deploy', 'box', ...accept]));
    const command = home.startQuickstart([
      ...['world.nodes=[box]', 'world.ranks=1', 'iterations=2000', 'evaluateEvery=0'],
    ]);
    const { processes } = await command.record('started');
    await command.record('iteration');
    const closed = (): number =>
      server.log.match(/channel \d+: .*timeout/gi)?.length ?? 0;
    const closedBefore = closed();
    // Nothing is recorded meanwhile.
    process.kill(processes[0]!.pid, 'SIGSTOP');
    await until(
      closed,
      (count) => count > closedBefore,
      'the server to close the channel',
    );
    process.kill(processes[0]!.pid, 'SIGCONT');
    const { code, stderr } = await command.finished;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(ofType(command.records, 'iteration')).toHaveLength(2000);
  },
);
