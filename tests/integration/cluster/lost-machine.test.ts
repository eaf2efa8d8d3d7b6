/**
 * Two machines, each a network namespace with an sshd of its own: the link of one is cut during a
 * run that does not restart. The run fails without it, by the name of the rank and its machine.
 */
import { expect, test } from 'vitest';
import type { RunDetail } from '../../../src/shared/rpc/run-summary.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { LASTING } from '../../harness/lasting-runs.ts';
import { namespacesMissing, RankNamespaces } from '../../harness/namespaces.ts';
import { SshServer } from '../../harness/sshd.ts';

const NODES = ['one', 'two'];

test.skipIf(namespacesMissing() !== undefined)(
  'a cut link ends the run by the name of rank and machine; the rest is fetched later',
  { tags: 'soak' },
  async () => {
    using namespaces = new RankNamespaces({ ranks: NODES.length });
    await using servers = new AsyncDisposableStack();
    await using home = new GradwireHome();
    for (const [index, name] of NODES.entries()) {
      const place = {
        host: namespaces.hosts[index]!,
        prefix: namespaces.prefix(index),
      };
      const server = servers.use(await SshServer.start({ place }));
      const host = ['--host', server.host, '--port', String(server.port)];
      succeeded(
        await home.run(['nodes', 'add', name, ...host, '--identity', server.key]),
      );
      const accept = ['--accept-host-key', server.fingerprint()];
      succeeded(await home.run(['nodes', 'check', name, ...accept]));
    }
    const command = home.startQuickstart([
      ...[`world.nodes=[${NODES.join(', ')}]`, 'world.ranks=2', 'onFailure=stop'],
      ...[...LASTING, 'evaluateEvery=0'],
    ]);
    await command.record('iteration', ({ rank }) => rank === 1);
    namespaces.cut(1);
    const { code, stderr } = await command.finished;
    expect(code).toBe(1);
    expect(stderr).toContain(
      'PEER_SILENT: rank 1 on two sent rank 0 on one no sign of life within 3 s (two).',
    );
    expect(stderr).toContain('records from two are missing');
    const run = async (): Promise<RunDetail> => {
      const { stdout } = await home.run(['runs', 'show', 'last', '--json']);
      return JSON.parse(stdout) as RunDetail;
    };
    expect(await run()).toMatchObject({
      state: 'failed',
      error: { code: 'PEER_SILENT', rank: 1, place: 'two' },
      missing: ['two'],
    });

    namespaces.mend(1);
    await home.run(['runs', 'attach', 'last']);
    const whole = await run();
    expect(whole).not.toHaveProperty('missing');
    expect(whole.error).toMatchObject({ rank: 1, place: 'two' });
  },
);
