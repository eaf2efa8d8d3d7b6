/**
 * The network check on machines as real as one can have them here: an sshd each, in a
 * network namespace of its own, one of them behind a slow link. How near figures
 * come to what a link is shaped to: bench/links.ts.
 */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Inventory } from '../../../src/main/cluster/inventory.ts';
import { resolveHome } from '../../../src/main/home/home.ts';
import { measuredLinks } from '../../../src/main/runs/run-network.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import { parseNetworkProfile } from '../../../src/shared/cost-model/network-profile.ts';
import { slowLinks } from '../../../src/shared/cost-model/slow-links.ts';
import type { LinkCost as NodeLinkCost } from '../../../src/shared/cost-model/network-cost.ts';
import type {
  LinkStatus,
  PairOutcome,
} from '../../../src/shared/machines/link-status.ts';
import { effort } from '../../harness/effort.ts';
import { type Finished, GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { LASTING } from '../../harness/lasting-runs.ts';
import { namespacesMissing, RankNamespaces } from '../../harness/namespaces.ts';
import {
  processesOf,
  processesWith,
  until,
  type ProcessEntry,
} from '../../harness/processes.ts';
import { SshServer } from '../../harness/sshd.ts';

const missing = namespacesMissing();
const because = missing === undefined ? '' : ` (skipped: ${missing})`;
// Node is there, so that the agent alone is brought along.
const shellStart = `export PATH=${path.dirname(process.execPath)}:$PATH\n`;
/** Bits per second: any machine's own links are much faster, busy as it may be. */
const SLOW = 30e6;
const PROBE = 'gradwire worker probe';

describe.skipIf(missing !== undefined)(`links between machines${because}`, () => {
  let namespaces: RankNamespaces;
  let fast: SshServer;
  let slow: SshServer;
  let home: GradwireHome;

  beforeAll(async () => {
    namespaces = new RankNamespaces({ ranks: 2, rate: [undefined, SLOW] });
    [fast, slow] = await Promise.all([machine(0), machine(1)]);
    home = new GradwireHome();
    await add('fast', fast);
    await add('slow', slow);
    // It shares no run with other machines.
    const login = ['nodes', 'add', 'hpc', '--host', fast.host, '--slurm'];
    succeeded(await home.run(login));
  });
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    for (const server of [fast, slow]) await server[Symbol.asyncDispose]();
    namespaces[Symbol.dispose]();
  });

  const machine = (rank: number): Promise<SshServer> => {
    const prefix = namespaces.prefix(rank);
    const place = { host: namespaces.hostOf(rank), prefix };
    return SshServer.start({ shellStart, place });
  };

  async function add(name: string, server: SshServer): Promise<void> {
    const { host, port, key } = server;
    const added = await home.run([
      ...['nodes', 'add', name, '--host', host, '--port', String(port)],
      ...['--identity', key],
    ]);
    expect(added).toMatchObject({ code: 0, stderr: '' });
    const accept = ['--accept-host-key', server.fingerprint()];
    const checked = await home.run(['nodes', 'check', name, ...accept]);
    expect(checked).toMatchObject({ code: 0 });
  }

  const network = (...args: string[]) => home.run(['nodes', 'network', ...args]);
  const probesOf = ({ home: there }: SshServer): readonly ProcessEntry[] =>
    processesWith(`HOME=${there}`, PROBE);

  /** What a run on both machines would be told. */
  async function known(): Promise<NodeLinkCost | undefined> {
    const own = resolveHome({ GRADWIRE_HOME: home.directory });
    const store = RunStore.open(own.database);
    await using inventory = new Inventory({ home: own, entries: store.nodes });
    try {
      const nodes = ['fast', 'slow'].map((name) => inventory.access(name)!);
      return measuredLinks(store.links, nodes);
    } finally {
      store.close();
    }
  }

  /** Neither end has a process left. */
  async function expectNoProbes(): Promise<void> {
    await until(
      () => [
        ...probesOf(fast),
        ...probesOf(slow),
        ...processesOf(home.directory, PROBE),
      ],
      (left) => left.length === 0,
      'the ends of the links to end',
    );
  }

  test('are measured, each pair both ways, and the slow machine is named', async () => {
    const { code, stdout } = await network('--json');
    expect(code).toBe(0);
    const outcomes = outcomesOf(stdout);
    expect(outcomes.map(({ nodes }) => nodes.join(' '))).toEqual([
      'this-computer fast',
      'this-computer slow',
      'fast slow',
    ]);
    const links = outcomes.flatMap((outcome) => outcome.links);
    for (const { from, to, measure } of links) {
      expect(measure).toMatchObject({ encrypted: true });
      expect(measure!.alpha).toBeGreaterThan(0);
      const isSlow = [from, to].includes('slow');
      // It lets no more through, whatever else the machine does.
      if (isSlow) expect(8 / measure!.beta).toBeLessThan(1.05 * SLOW);
      else expect(8 / measure!.beta).toBeGreaterThan(3 * SLOW);
    }
    expect(
      links.find(({ from, to }) => from === 'fast' && to === 'slow')!.measure,
    ).toMatchObject({
      addresses: { from: namespaces.hostOf(0), to: namespaces.hostOf(1) },
    });
    expect(slowLinks(links)[0]).toMatch(/^slow has .* less bandwidth/);
    await expectNoProbes();
  });

  test(
    'decide what a run over these machines takes, and what plan predicts',
    { tags: 'soak' },
    async () => {
      const spec = ['--set', 'world.nodes=[fast, slow]', '--set', 'world.ranks=2'];
      const planned = await home.run(['plan', 'quickstart', '--compute', '5', ...spec]);
      expect(planned).toMatchObject({ code: 0, stderr: '' });
      expect(planned.stdout).toMatch(/measured between machines: .*\d Mbit\/s/);
      const run = home.startQuickstart([
        ...['world.nodes=[fast, slow]', 'world.ranks=2', 'exchange.collective=auto'],
        'iterations=1000000',
      ]);
      const chosen = await run.record(
        'notice',
        (record) => record.code === 'COLLECTIVE_CHOSEN',
      );
      expect(chosen.message).toMatch(/measured links between machines .* Mbit\/s/);

      // While it goes on nothing is measured that it would notice.
      const { code, stdout } = await network('fast', 'slow', '--json');
      expect(code).toBe(1);
      const [outcome] = outcomesOf(stdout);
      expect(outcome!.runs.map(({ node }) => node)).toEqual(['fast', 'slow']);
      expect(outcome!.links.map(({ measure }) => measure)).toEqual([
        undefined,
        undefined,
      ]);
      expect((await network('fast', 'slow')).stdout).toMatch(/busy with run/);
      const anyway = await network('fast', 'slow', '--while-running');
      expect(anyway.stdout).toMatch(/measured while run \w+ on fast, .*; not stored/);
      await home.run(['runs', 'stop', 'last']);
      succeeded(await run.finished);
    },
  );

  test(
    'that fail are reported with both addresses, and the others continue',
    { tags: 'soak' },
    async () => {
      const route = (what: 'add' | 'delete'): void => {
        const other = `${namespaces.hostOf(0)}/32`;
        const ip = ['-n', namespaces.names[1]!, 'route', what, 'prohibit', other];
        execFileSync('ip', ip);
      };
      route('add');
      try {
        const { code, stdout } = await network();
        expect(code).toBe(1);
        expect(stdout).toMatch(/^this-computer .*bit\/s.*bit\/s/m);
        expect(stdout).toMatch(/^fast .*LINK_UNREACHABLE/m);
        const place = `fast \\(${namespaces.hostOf(0)}:\\d+\\)`;
        expect(stdout).toMatch(
          new RegExp(`^fast – slow: LINK_UNREACHABLE: .*${place}`, 'm'),
        );
      } finally {
        route('delete');
      }
      await expectNoProbes();
    },
  );

  // It takes as long as ends are patient.
  const hang = ['an end that hangs is given up'];
  test.each(hang.slice(0, effort({ quick: 0, soak: 1 })))('%s', async () => {
    const hanging = home.start(['nodes', 'network', 'fast', 'slow', '--json']);
    const [end] = await until(
      () => probesOf(slow),
      (probes) => probes.length === 1,
      'the end at slow to listen',
    );
    process.kill(end!.pid, 'SIGSTOP');
    const { code, stdout } = await hanging.finished;
    expect(code).toBe(1);
    expect(failureOf(outcomesOf(stdout)[0]!)).toMatch(
      /^(LINK_LOST|LINK_UNREACHABLE|WORKER_SILENT)$/,
    );
    await expectNoProbes();
  });

  test('one that is cancelled ends at once', async () => {
    const cancelled = home.start(['nodes', 'network', '--json']);
    await until(
      () => probesOf(fast),
      (probes) => probes.length === 1,
      'the measurement to begin',
    );
    cancelled.child.kill('SIGINT');
    expect(await cancelled.finished).toMatchObject({ code: 130 });
    await expectNoProbes();
    // What was measured before is still known.
    expect(await known()).toBeDefined();
  });

  test(
    'what lies within a machine is measured there, and plan uses it',
    { tags: 'soak' },
    async () => {
      const bench = (...args: string[]) =>
        home.run(['bench', 'network', '--node', ...args, '--quick', '--ranks', '2']);
      const plan = (nodes: string) =>
        home.run([
          ...['plan', 'quickstart', '--compute', '5', '--set', 'world.ranks=2'],
          ...['--set', `world.nodes=${nodes}`],
        ]);
      expect((await plan('[fast]')).stdout).toContain(
        'measure with gradwire bench network --node fast',
      );

      const measured = await bench('fast', '--json');
      expect(measured).toMatchObject({ code: 0 });
      const profile = parseNetworkProfile(JSON.parse(measured.stdout), 'stdout');
      expect(profile.loaded.map(({ ranks }) => ranks)).toEqual([2]);
      await expectNoProbes();
      expect((await plan('[fast]')).stdout).toContain('network: measured (on fast)');
      expect((await plan('[fast, this-computer]')).stdout).toContain(
        'within them measured (on fast)',
      );

      const cancelled = home.start(['bench', 'network', '--node', 'fast']);
      await until(
        () => probesOf(fast),
        (probes) => probes.length === 4,
        'the measurement to begin',
      );
      expect((await bench('fast')).stderr).toContain('LINK_CHECK_BUSY');
      expect((await network('fast', 'slow')).stdout).toContain('LINK_CHECK_BUSY');
      cancelled.child.kill('SIGINT');
      await cancelled.finished;
      await expectNoProbes();

      const run = home.startQuickstart(['world.nodes=[fast]', ...LASTING]);
      await run.record('started');
      expect(await bench('fast')).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/NODE_BUSY: run \w+ is in progress there/),
      });
      await home.run(['runs', 'stop', 'last']);
      succeeded(await run.finished);
      expect(await bench('fsat')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Did you mean "fast"?'),
      });
    },
  );

  test('of a machine that is another one now are not used any more', async () => {
    // What tells nothing of the way there leaves it the machine that was measured.
    succeeded(await home.run(['nodes', 'edit', 'slow', '--label', 'another']));
    expect(await known()).toBeDefined();
    succeeded(await home.run(['nodes', 'remove', 'slow']));
    const { host, port, key } = slow;
    await home.run([
      ...['nodes', 'add', 'slow', '--host', host, '--port', String(port)],
      ...['--identity', key, '--address', host],
    ]);
    expect(await known()).toBeUndefined();
  });

  test.each([
    [['fast'], 'NODES_TOO_FEW'],
    [['fsat'], 'NODE_UNKNOWN: there is no machine named "fsat". Did you mean "fast"?'],
    [['fast', 'fsat'], 'NODE_UNKNOWN'],
  ])('%j: are refused', async (names, error) => {
    const { code, stderr } = await network(...names);
    expect(code).toBe(2);
    expect(stderr).toContain(error);
  });
});

const outcomesOf = (stdout: Finished['stdout']): readonly PairOutcome[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as PairOutcome);

const failureOf = ({ links: [link] }: PairOutcome): string | undefined =>
  (link satisfies LinkStatus).failure?.error.code;
