/**
 * The time until a run has ended, after a machine or its link was lost: two machines,
 * each a network namespace with an sshd of its own, and an app outside them. Linux, as root.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { openHome, resolveHome } from '../../src/main/home/home.ts';
import { Inventory } from '../../src/main/cluster/inventory.ts';
import { RunCoordinator } from '../../src/main/runs/coordinator.ts';
import { RunStore } from '../../src/main/store/run-store.ts';
import { GradwireHome } from '../../tests/harness/gradwire.ts';
import { namespacesMissing, RankNamespaces } from '../../tests/harness/namespaces.ts';
import { untilAsync } from '../../tests/harness/processes.ts';
import { SshServer } from '../../tests/harness/sshd.ts';
import { parseExperimentSpec } from '../../src/shared/spec/experiment-spec.ts';

const NODES = ['one', 'two'] as const;

export interface Losses {
  /** s until the run has ended, of each loss. */
  readonly nodeKilled: readonly number[];
  readonly linkCut: readonly number[];
  /** The link between the machines alone: the app still reaches both. */
  readonly dataLinkCut: readonly number[];
}

/** The times until runs end after losses; undefined where there can be no namespaces. */
export async function measureLostMachines(times: number): Promise<Losses | undefined> {
  if (namespacesMissing() !== undefined) return undefined;
  await using two = await TwoMachines.start();
  const repeated = async (
    lose: () => unknown,
    find: () => unknown,
  ): Promise<number[]> => {
    const seconds: number[] = [];
    for (let i = 0; i < times; i++) seconds.push(await two.secondsToEnd(lose, find));
    return seconds;
  };
  const { namespaces } = two;
  return {
    nodeKilled: await repeated(
      () => two.killSecond(),
      () => two.startSecond(),
    ),
    linkCut: await repeated(
      () => {
        namespaces.cut(1);
      },
      () => {
        namespaces.mend(1);
      },
    ),
    dataLinkCut: await repeated(
      () => {
        namespaces.part(0, 1);
      },
      () => {
        namespaces.join(0, 1);
      },
    ),
  };
}

class TwoMachines implements AsyncDisposable {
  readonly namespaces = new RankNamespaces({ ranks: NODES.length });
  readonly #home = new GradwireHome();
  readonly #servers: SshServer[] = [];

  static async start(): Promise<TwoMachines> {
    const two = new TwoMachines();
    try {
      for (const [index] of NODES.entries()) {
        const host = two.namespaces.hosts[index]!;
        const prefix = two.namespaces.prefix(index);
        two.#servers.push(await SshServer.start({ place: { host, prefix } }));
      }
      return two;
    } catch (error) {
      await two[Symbol.asyncDispose]();
      throw error;
    }
  }

  async killSecond(): Promise<void> {
    this.namespaces.endProcesses(1);
    await this.#servers[1]!.stop();
  }

  async startSecond(): Promise<void> {
    await this.#servers[1]!.start();
  }

  /** Seconds from the loss to the end of a run on both machines, as an app hears of it. */
  async secondsToEnd(lose: () => unknown, find: () => unknown): Promise<number> {
    const home = await openHome(resolveHome({ GRADWIRE_HOME: this.#home.directory }));
    const store = RunStore.open(home.database);
    this.#add(store);
    const confirmedHostKeys = this.#servers.map((server) => server.fingerprint());
    const inventory = new Inventory({ home, entries: store.nodes, confirmedHostKeys });
    const ignore = (): void => undefined;
    const coordinator = new RunCoordinator({
      store,
      nodes: inventory,
      scope: 'own',
      events: { changed: ignore, records: ignore, notice: ignore, outOfReach: ignore },
    });
    try {
      const { id } = await coordinator.launches.launch(
        parseExperimentSpec({
          name: 'loss',
          workload: { model: 'fnn3', dataset: 'digits', batchPerRank: 1 },
          world: { ranks: 2, nodes: NODES },
          iterations: 1_000_000,
          evaluateEvery: 0,
        }),
      );
      await untilAsync(
        () => Promise.resolve(store.summary(id).iterations),
        (iterations) => iterations > 10,
        'the run to train',
      );
      const start = performance.now();
      void lose();
      await coordinator.following.ended(id);
      return (performance.now() - start) / 1000;
    } finally {
      await find();
      await coordinator.close();
      await inventory[Symbol.asyncDispose]();
      store.close();
    }
  }

  #add(store: RunStore): void {
    for (const [index, name] of NODES.entries()) {
      if (store.nodes.get(name) !== undefined) continue;
      const server = this.#servers[index]!;
      // Nothing of the user's own is read.
      const configFile = path.join(server.directory, 'empty-config');
      writeFileSync(configFile, '');
      const destination = `${server.host}:${server.port}`;
      const identities = [server.key];
      store.nodes.add({ name, destination, identities, labels: [], configFile });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) await server[Symbol.asyncDispose]();
    this.namespaces[Symbol.dispose]();
    await this.#home[Symbol.asyncDispose]();
  }
}
