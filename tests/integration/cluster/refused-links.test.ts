/**
 * A followed run whose machine lets nobody in when the lost connection is made again: the
 * command goes on, asks, or ends with a code of its own, and never hangs.
 */
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunDetail } from '../../../src/shared/rpc/run-summary.ts';
import { CommandTerminal } from '../../harness/command-terminal.ts';
import {
  GradwireHome,
  succeeded,
  type Finished,
  type RunningCommand,
} from '../../harness/gradwire.ts';
import { LASTING_ALONE } from '../../harness/lasting-runs.ts';
import { processesWith, until } from '../../harness/processes.ts';
import { makeKey } from '../../harness/ssh-keys.ts';
import { passwordsMissing, SshServer } from '../../harness/sshd.ts';

const PASSWORD = 'correct horse';

describe.skipIf(passwordsMissing() !== undefined)('a followed run', () => {
  let server: SshServer;
  let home: GradwireHome;
  /** A key that nobody of these tests has. */
  let stranger: string;

  beforeAll(async () => {
    const shellStart = `export PATH=${path.dirname(process.execPath)}:$PATH\n`;
    server = await SshServer.start({ password: PASSWORD, shellStart });
    stranger = makeKey(path.join(server.directory, 'stranger'));
    home = new GradwireHome();
    const host = ['--host', '127.0.0.1', '--port', String(server.port)];
    succeeded(
      await home.run(['nodes', 'add', 'box', ...host, '--identity', server.key]),
    );
    const accept = ['--accept-host-key', server.fingerprint()];
    succeeded(await home.run(['nodes', 'deploy', 'box', ...accept]));
  });
  afterAll(async () => {
    // A run that a command has left, perhaps of a test that failed, goes on there.
    const supervisors = processesWith(`HOME=${server.home}`, 'gradwire supervisor');
    for (const { pid } of supervisors) process.kill(pid, 'SIGTERM');
    await until(
      () => processesWith(`HOME=${server.home}`, 'gradwire'),
      (left) => left.length === 0,
      'the processes there to end',
    );
    await home[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const settings = ['world.nodes=[box]', ...LASTING_ALONE];
  const followed = async (): Promise<RunningCommand> => {
    const command = home.startQuickstart([...settings, 'evaluateEvery=0']);
    await command.record('iteration');
    return command;
  };
  const newest = async (): Promise<RunDetail> => {
    const { stdout } = await home.run(['runs', 'show', 'last', '--json']);
    return JSON.parse(stdout) as RunDetail;
  };
  /** From now on the key is refused; connections that were made are cut. */
  const lockOut = async (): Promise<void> => {
    server.authorizeOnly(stranger);
    await server.cutSessions();
  };
  const letIn = (): void => {
    server.authorizeOnly(server.key);
  };
  const stop = async (): Promise<Finished> => {
    const stopping = home.start(['runs', 'stop', 'last', '--password-stdin']);
    stopping.child.stdin!.end(`${PASSWORD}\n`);
    return succeeded(await stopping.finished);
  };

  test(
    'ends as the run does, when another process stores its end',
    { tags: 'soak' },
    async () => {
      const command = await followed();
      await lockOut();
      await until(
        () => command.stderr,
        (text) => text.includes('cannot be reached'),
        'the refusal to be told',
      );
      await stop();
      const { code } = await command.finished;
      expect(code).toBe(0);
      expect(command.records.at(-1)).toMatchObject({ type: 'done', reason: 'stopped' });
      letIn();
    },
  );

  test(
    'names a machine that it was to have twice, by two names',
    { tags: 'soak' },
    async () => {
      const host = ['--host', '127.0.0.1', '--port', String(server.port)];
      succeeded(
        await home.run(['nodes', 'add', 'lab', ...host, '--identity', server.key]),
      );
      const same = 'NODES_SAME: box and lab are the same machine';
      const command = home.startQuickstart(['world.nodes=[box, lab]', 'world.ranks=2']);
      const { code, stderr } = await command.finished;
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringContaining(same) as string,
      });
      expect(await newest()).toMatchObject({
        state: 'failed',
        error: { code: 'NODES_SAME', place: 'lab' },
      });
      const network = await home.run(['nodes', 'network', 'box', 'lab']);
      expect(network.code).toBe(1);
      expect(network.stdout).toContain(same);
      succeeded(await home.run(['nodes', 'remove', 'lab']));
    },
  );

  /** A run that is followed at a terminal, and asks for a password when its link was cut. */
  const askedAtTerminal = async (): Promise<CommandTerminal> => {
    const set = settings.flatMap((setting) => ['--set', setting]);
    const terminal = CommandTerminal.open(home, ['run', 'quickstart', ...set]);
    await terminal.sees(/\d+\/1000000 /);
    await lockOut();
    await terminal.sees(/asks for a log-in again/);
    return terminal;
  };

  test(
    'asks at a terminal for what the log-in needs now',
    { tags: 'soak' },
    async () => {
      const terminal = await askedAtTerminal();
      await terminal.answer(`${PASSWORD}\r`);
      await terminal.sees(/\d+\/1000000 /);
      letIn();
      terminal.type('\u0003');
      expect(await terminal.ended).toBe(130);
      expect(terminal.shown).toContain('stopping the run');
      expect(await newest()).toMatchObject({ state: 'stopped' });
    },
  );

  test(
    'ends with the code of its own where the answers are wrong',
    { tags: 'soak' },
    async () => {
      const terminal = await askedAtTerminal();
      // As many as the server and the client allow, by either method.
      for (let round = 0; round < 8 && !terminal.isOver; round++) {
        await Promise.race([terminal.answer('wrong\r'), terminal.ended]);
      }
      expect(await terminal.ended).toBe(3);
      expect(terminal.shown).toMatch(/RUN_UNFOLLOWED.*gradwire runs attach/s);
      await stop();
      letIn();
    },
  );

  test(
    'is left by Ctrl-C at the prompt, which is not shown again',
    { tags: 'soak' },
    async () => {
      const terminal = await askedAtTerminal();
      await terminal.answer('\u0003');
      expect(await terminal.ended).toBe(130);
      expect(terminal.shown).toMatch(/gradwire runs (stop|attach) \w{8}/);
      expect(terminal.shown).not.toMatch(/password/i);
      await stop();
      letIn();
    },
  );

  // The last one: its server is another one for everybody from now on.
  test('ends at once, with a code of its own, when the host key has changed', async () => {
    const command = await followed();
    server.makeHostKey('ed25519');
    await server.restart();
    const { code, stderr } = await command.finished;
    expect(code).toBe(3);
    const { id, state } = await newest();
    expect(state).toBe('running');
    expect(stderr).toMatch(
      new RegExp(
        `gradwire: RUN_UNFOLLOWED: run ${id} cannot be followed any longer: HOST_KEY_CHANGED: ` +
          `.* \\(box\\)\\. .*gradwire runs attach ${id}\\.\\n$`,
      ),
    );
  });
});
