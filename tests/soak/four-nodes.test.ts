/**
 * A run over four machines: network namespaces, each with an address, a link and an sshd of
 * its own. A link is cut for half a minute, then a machine is lost with all that runs there and
 * comes back: the run goes on each time, and ends with the bits of one that lost nothing.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { RunRecord } from '../../src/shared/records/record-kinds.ts';
import { GradwireHome, type RunningCommand } from '../harness/gradwire.ts';
import { namespacesMissing, RankNamespaces } from '../harness/namespaces.ts';
import { until } from '../harness/processes.ts';
import { ofType } from '../harness/records.ts';
import { SshServer } from '../harness/sshd.ts';

const NODES = ['one', 'two', 'three', 'four'];
const CUT_MS = 30_000;

const interruptions = ({ records }: RunningCommand): readonly RunRecord[] =>
  ofType(records, 'interrupted');
const restarts = ({ records }: RunningCommand): readonly RunRecord[] =>
  ofType(records, 'restarted');

test.skipIf(namespacesMissing() !== undefined)(
  'survives a link that is cut and a machine that is lost',
  async () => {
    using namespaces = new RankNamespaces({ ranks: NODES.length });
    await using servers = new AsyncDisposableStack();
    await using home = new GradwireHome();
    const machines: SshServer[] = [];
    for (const [index, name] of NODES.entries()) {
      const place = {
        host: namespaces.hosts[index]!,
        prefix: namespaces.prefix(index),
      };
      const server = servers.use(await SshServer.start({ place }));
      machines.push(server);
      const host = ['--host', server.host, '--port', String(server.port)];
      await home.run(['nodes', 'add', name, ...host, '--identity', server.key]);
      const accept = ['--accept-host-key', server.fingerprint()];
      const checked = await home.run(['nodes', 'check', name, ...accept]);
      expect(checked).toMatchObject({ code: 0, stderr: '' });
    }
    const start = (iterations: number): RunningCommand =>
      home.startQuickstart([
        ...[
          'onFailure=restart',
          'checkpointEvery=25',
          'backend=wasm',
          'evaluateEvery=0',
        ],
        ...[`world.nodes=[${NODES.join(', ')}]`, 'exchange.method=topk'],
        `iterations=${iterations}`,
      ]);
    const reach = (command: RunningCommand, iteration: number): Promise<unknown> =>
      until(
        () => ofType(command.records, 'iteration').at(-1)?.iteration ?? 0,
        (reached) => reached >= iteration,
        `iteration ${iteration}`,
      );
    const command = start(400);
    await reach(command, 60);

    namespaces.cut(2);
    await until(
      () => interruptions(command).length,
      (count) => count >= 3,
      'the other machines to miss it',
    );
    await pause(CUT_MS);
    namespaces.mend(2);
    await until(
      () => restarts(command).length,
      (count) => count >= NODES.length,
      'all machines to go on',
    );
    const reached = ofType(command.records, 'iteration').at(-1)!.iteration;
    await reach(command, reached + 30);

    const before = restarts(command).length;
    namespaces.endProcesses(3);
    await machines[3]!.stop();
    await until(
      () => interruptions(command).length,
      (count) => count >= before + 3,
      'the other machines to miss it',
    );
    await machines[3]!.start();

    const { code, stderr } = await command.finished;
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const iterations = ofType(command.records, 'iteration');
    const seen = new Set(
      iterations.map(({ rank, iteration }) => `${rank}/${iteration}`),
    );
    expect(seen.size).toBe(NODES.length * 400);
    expect(iterations).toHaveLength(seen.size);
    const whole = start(400);
    await whole.finished;
    const result = ({ records }: RunningCommand) => {
      const { weights, loss, consistent } = ofType(records, 'done')[0]!;
      return { weights, loss, consistent };
    };
    expect(result(command)).toEqual(result(whole));
  },
);
