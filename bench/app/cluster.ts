/**
 * The costs of a machine reached by SSH, measured against a real sshd on loopback: bringing
 * the agent there, attaching, reading what was missed, and noticing what is lost. A real
 * network adds its own round trips and its own rate.
 */
import { writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { ControlConnection } from '../../src/main/cluster/control-connection.ts';
import { Inventory } from '../../src/main/cluster/inventory.ts';
import type { RemoteNode } from '../../src/main/cluster/remote-node.ts';
import { openHome, resolveHome, type Home } from '../../src/main/home/home.ts';
import { RunCoordinator } from '../../src/main/runs/coordinator.ts';
import { RunStore } from '../../src/main/store/run-store.ts';
import { LOCAL_NODE, type NodeEntry } from '../../src/shared/machines/node-entry.ts';
import type { JournalEntry } from '../../src/shared/records/journal-entry.ts';
import { GradwireHome } from '../../tests/harness/gradwire.ts';
import { childrenOf, until, type ProcessEntry } from '../../tests/harness/processes.ts';
import { SshServer } from '../../tests/harness/sshd.ts';
import { median, quantile } from '../quantiles.ts';
import type { Measurement } from '../report.ts';
import { measureLostMachines } from './lost-machines.ts';
import { parseExperimentSpec } from '../../src/shared/spec/experiment-spec.ts';

const REPETITIONS = 5;
const LOSSES = 3;
/** Records that are waited for before they are read at once. */
const MISSED = 6000;
const NODE = 'box';

/** One app's side: its connections, its store, and what it was told. */
class App implements AsyncDisposable {
  readonly inventory: Inventory;
  readonly coordinator: RunCoordinator;
  readonly heard: JournalEntry[] = [];
  readonly store: RunStore;

  static async open(home: GradwireHome, server: SshServer): Promise<App> {
    return new App(
      await openHome(resolveHome({ GRADWIRE_HOME: home.directory })),
      server,
    );
  }

  private constructor(opened: Home, server: SshServer) {
    this.store = RunStore.open(opened.database);
    this.inventory = new Inventory({
      home: opened,
      entries: this.store.nodes,
      confirmedHostKeys: [server.fingerprint()],
    });
    this.coordinator = new RunCoordinator({
      store: this.store,
      nodes: this.inventory,
      scope: 'own',
      events: {
        changed: () => undefined,
        records: (_, entries) => this.heard.push(...entries),
        notice: () => undefined,
        outOfReach: () => undefined,
      },
    });
  }

  get remote(): RemoteNode {
    return this.inventory.remote(this.store.nodes.get(NODE)!);
  }

  /** Opens a connection of one's own to the supervisor there. */
  async supervisor(): Promise<ControlConnection> {
    const nobody = { run: () => undefined, lost: () => undefined };
    const found = await this.remote.find(nobody);
    if (found === undefined) throw new Error('no supervisor there');
    return found;
  }

  /** The processes of a run's ranks there. */
  async workers(run: string): Promise<readonly ProcessEntry[]> {
    const supervisor = await this.supervisor();
    await supervisor.close();
    return childrenOf(supervisor.hello.pid, `gradwire worker ${run} `);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.coordinator.close();
    await this.inventory[Symbol.asyncDispose]();
    this.store.close();
  }
}

const spec = (ranks: number, nodes: readonly string[]): Record<string, unknown> => ({
  name: 'bench',
  workload: { model: 'fnn3', dataset: 'digits', batchPerRank: 1 },
  world: { ranks, nodes },
  optimizer: { lr: 0.001 },
  exchange: { method: 'a2sgd' },
  iterations: 1_000_000,
  evaluateEvery: 0,
});

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

async function repeat(
  times: number,
  work: () => Promise<number>,
): Promise<readonly number[]> {
  const values: number[] = [];
  for (let i = 0; i < times; i++) values.push(await work());
  return values;
}

const described = (
  name: string,
  seconds: readonly number[],
  how: string,
  goal?: number,
): Measurement => ({
  name,
  value: median(seconds),
  unit: 's',
  goal,
  note:
    seconds.length === 1
      ? how
      : `${how}; median of ${seconds.length}, worst ${quantile(seconds, 1).toFixed(2)} s`,
});

export async function measureCluster(): Promise<readonly Measurement[]> {
  await using server = await SshServer.start();
  await using home = new GradwireHome();
  const entry: NodeEntry = {
    name: NODE,
    destination: `${os.userInfo().username}@127.0.0.1:${server.port}`,
    identities: [server.key],
    labels: [],
    // Nothing of the user's own is read.
    configFile: emptyConfig(server),
  };
  {
    await using app = await App.open(home, server);
    app.store.nodes.add(entry);
  }
  return [
    ...(await measureDeployment(home, server)),
    ...(await measureAttaching(home, server)),
    ...(await measureLosses(home, server)),
    ...(await measureMachines()),
  ];
}

/** Measurements of machines in namespaces: none where there can be no namespaces. */
async function measureMachines(): Promise<readonly Measurement[]> {
  const losses = await measureLostMachines(LOSSES);
  if (losses === undefined) return [];
  const { nodeKilled, linkCut, dataLinkCut } = losses;
  const how = 'in a network namespace; the run has ended in the app';
  return [
    described('to notice a machine that died', nodeKilled, how, 5),
    described('to notice a machine whose link is cut', linkCut, how, 5),
    described(
      'to notice a cut link between machines',
      dataLinkCut,
      `${how}, which reaches both`,
      5,
    ),
  ];
}

function emptyConfig(server: SshServer): string {
  const file = path.join(server.directory, 'empty-config');
  writeFileSync(file, '');
  return file;
}

async function measureDeployment(
  home: GradwireHome,
  server: SshServer,
): Promise<readonly Measurement[]> {
  await using app = await App.open(home, server);
  let uploaded = 0;
  const first = async (): Promise<number> => {
    await app.remote.uninstall(true);
    return await secondsOf(async () => {
      ({ uploaded } = await app.remote.deploy());
    });
  };
  const packing = await first();
  const firsts = await repeat(3, first);
  const size = `${(uploaded / 1e6).toFixed(1)} MB`;
  const warm = await repeat(REPETITIONS, () => secondsOf(() => app.remote.deploy()));
  return [
    described('first deploy, packing too', [packing], `${size} to loopback`),
    described('first deploy', firsts, `${size} to loopback, packed before`),
    described('second deploy', warm, 'every file there is read and verified', 1),
  ];
}

async function measureAttaching(
  home: GradwireHome,
  server: SshServer,
): Promise<readonly Measurement[]> {
  let run = '';
  {
    await using app = await App.open(home, server);
    ({ id: run } = await app.coordinator.launches.launch(
      parseExperimentSpec(spec(4, [NODE])),
    ));
  }
  const attached = await repeat(REPETITIONS, async () => {
    await using app = await App.open(home, server);
    return await secondsOf(async () => {
      await app.coordinator.following.follow(run);
      await until(
        () => app.heard.length,
        (heard) => heard > 0,
        'a record',
      );
    });
  });
  const position = (app: App): number => app.store.journals.position(run, NODE);
  await using app = await App.open(home, server);
  const before = position(app);
  // The app is away: nothing of it looks until enough has come together.
  await awaitJournal(app, run, before + MISSED);
  let records = 0;
  const seconds = await secondsOf(async () => {
    await app.coordinator.following.follow(run);
    await until(
      () => position(app),
      (stored) => stored >= before + MISSED,
      'the records that were missed',
    );
    records = position(app) - before;
  });
  await app.coordinator.orders.give(run, { type: 'stop' });
  return [
    described(
      'attach to first record',
      attached,
      'a new connection, log-in and journal included',
    ),
    {
      name: 'records missed, read and stored',
      value: records / seconds,
      unit: '/s',
      note: `${records} records of a run that goes on, over SSH; connecting included`,
    },
  ];
}

/** Waits for the journal without following the run: by asking the supervisor how long its journal is. */
async function awaitJournal(app: App, run: string, length: number): Promise<void> {
  const supervisor = await app.supervisor();
  for (;;) {
    const { runs } = await supervisor.request('runs', {});
    const state = runs.find((candidate) => candidate.run === run);
    if ((state?.lastSequence ?? length) >= length) break;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  await supervisor.close();
}

async function measureLosses(
  home: GradwireHome,
  server: SshServer,
): Promise<readonly Measurement[]> {
  const both = [LOCAL_NODE, NODE];
  /** The time from what is done to the run's end, as the app hears of it. */
  const endedAfter = async (name: NodeJS.Signals): Promise<number> => {
    await using app = await App.open(home, server);
    const { id } = await app.coordinator.launches.launch(
      parseExperimentSpec(spec(2, both)),
    );
    const workers = await app.workers(id);
    return await secondsOf(async () => {
      signal(workers, name);
      await app.coordinator.following.ended(id);
    });
  };
  const dead = await repeat(LOSSES, () => endedAfter('SIGKILL'));
  const silent = await repeat(LOSSES, () => endedAfter('SIGSTOP'));
  return [
    described(
      'to notice a worker that died',
      dead,
      'the run has ended on both machines',
      5,
    ),
    described(
      'to notice a worker that hangs',
      silent,
      'stopped: it gives no sign of life; the run has ended on both machines',
      5,
    ),
    described(
      'to notice a link that died',
      [await measureLink(home, server)],
      'the SSH session is silent',
    ),
  ];
}

/** Measures the time from the moment that an SSH session is silent until the app says so. */
async function measureLink(home: GradwireHome, server: SshServer): Promise<number> {
  await using app = await App.open(home, server);
  const { id } = await app.coordinator.launches.launch(
    parseExperimentSpec(spec(2, [LOCAL_NODE, NODE])),
  );
  const sessions = server.sessions();
  const seconds = await secondsOf(async () => {
    signal(sessions, 'SIGSTOP');
    await until(
      () => app.coordinator.machines.nodeConnection(NODE),
      ({ connection }) => connection !== 'connected',
      'the app to miss the machine',
    );
  });
  signal(sessions, 'SIGKILL');
  await app.coordinator.orders.give(id, { type: 'stop' });
  return seconds;
}

function signal(processes: readonly ProcessEntry[], name: NodeJS.Signals): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended.
    }
  }
}
