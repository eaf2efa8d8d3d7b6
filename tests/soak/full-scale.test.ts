/**
 * A figure with its paper's sizes over four machines: network namespaces, each with an address, a
 * link and an sshd of its own. Its first runs have their ranks there; then it is interrupted.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { RunDetail } from '../../src/shared/rpc/run-summary.ts';
import { GradwireHome, succeeded } from '../harness/gradwire.ts';
import { namespacesMissing, RankNamespaces } from '../harness/namespaces.ts';
import { until } from '../harness/processes.ts';
import { SshServer } from '../harness/sshd.ts';

const NODES = ['one', 'two', 'three', 'four'];
/** The figure's workers: each needs a processor. */
const WORKERS = 8;
/** Full-size runs of up to eight workers take minutes where they share two cores. */
const SWEEP_MS = 3_600_000;

test.skipIf(
  namespacesMissing() !== undefined || NODES.length * availableParallelism() < WORKERS,
)('a figure at full scale has its ranks on the machines that were named', async () => {
  using namespaces = new RankNamespaces({ ranks: NODES.length });
  await using servers = new AsyncDisposableStack();
  await using home = new GradwireHome();
  for (const [index, name] of NODES.entries()) {
    const place = { host: namespaces.hosts[index]!, prefix: namespaces.prefix(index) };
    const server = servers.use(await SshServer.start({ place }));
    const host = ['--host', server.host, '--port', String(server.port)];
    await home.run(['nodes', 'add', name, ...host, '--identity', server.key]);
    const accept = ['--accept-host-key', server.fingerprint()];
    succeeded(await home.run(['nodes', 'check', name, ...accept]));
  }

  const out = path.join(home.directory, 'results');
  mkdirSync(out);
  const command = home.start([
    ...['reproduce', 'a2sgd-figure-4', '--full', '--nodes', NODES.join(',')],
    ...['--out', out, '--json'],
  ]);
  let printed = '';
  command.child.stdout!.on('data', (text: string) => {
    printed += text;
  });
  const runs = (): readonly string[] =>
    printed.split('\n').filter((line) => line.startsWith('{"type":"run"'));
  // The sixth is the first of eight workers.
  await until(
    () => runs().length >= 6 || printed.includes('"type":"failed"'),
    (enough) => enough,
    'six runs of the sweep',
    SWEEP_MS,
  );
  const lines = runs();
  expect({ runs: lines.length, stderr: command.stderr }).toMatchObject({
    runs: expect.toSatisfy((count: number) => count >= 6),
    // What is deployed to a machine is said, and nothing else.
    stderr: expect.stringMatching(
      /^((one|two|three|four): (uploading|verifying|unpacking) the .*\n)*$/,
    ),
  });
  command.child.kill('SIGINT');
  expect((await command.finished).code).toBe(130);
  expect(readdirSync(out)).toEqual([]);

  const made = JSON.parse(lines[5]!) as { run: string; case: string };
  expect(made.case).toBe('none-small-p8');
  const shown = succeeded(await home.run(['runs', 'show', made.run, '--json']));
  const { spec, events } = JSON.parse(shown.stdout) as RunDetail;
  expect(spec.world).toMatchObject({ ranks: WORKERS, nodes: NODES });
  // Each machine says what it has started.
  const started = events.filter((event) => event.type === 'started');
  expect(started.map(({ emulated }) => emulated)).toEqual(NODES.map(() => undefined));
  const places = started.flatMap(({ processes }) => processes.map(({ node }) => node));
  expect(places).toHaveLength(WORKERS);
  expect(new Set(places)).toEqual(new Set(NODES));
});
