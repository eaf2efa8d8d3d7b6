/** A coordinator over two nodes: two supervisors of this machine, each with its home. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { ControlConnection } from '../../../src/main/cluster/control-connection.ts';
import { localNode } from '../../../src/main/cluster/local-node.ts';
import type {
  NodeAccess,
  NodeAddresses,
} from '../../../src/main/cluster/node-access.ts';
import { openHome, resolveHome, type Home } from '../../../src/main/home/home.ts';
import { isAlive } from '../../../src/main/home/process-life.ts';
import type { CoordinatorOptions } from '../../../src/main/runs/coordinator-parts.ts';
import { RunCoordinator } from '../../../src/main/runs/coordinator.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import { failure, type ErrorData } from '../../../src/shared/errors/errors.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { childrenOf, until, type ProcessEntry } from '../../harness/processes.ts';

export const NODES = ['this-computer', 'box'] as const;
type Node = (typeof NODES)[number];

/** Links so slow that a run is still under way when a busy machine gets to change it. */
export const ITERATIONS = 30;
export const spec = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  name: 'two nodes',
  workload: { model: 'fnn3', dataset: 'digits' },
  world: { ranks: 3, nodes: NODES },
  iterations: ITERATIONS,
  evaluateEvery: 0,
  network: { bandwidth: '10 Gbit/s', latency: '5 ms' },
  ...more,
});

const LOOPBACK: NodeAddresses = { there: '127.0.0.1', here: '127.0.0.1' };

const SILENT = {
  changed: () => undefined,
  records: () => undefined,
  outOfReach: () => undefined,
};

export class TwoHomes implements AsyncDisposable {
  readonly homes: Readonly<Record<Node, Home>>;
  readonly store: RunStore;
  readonly heard: JournalEntry[] = [];
  readonly notices: ErrorData[] = [];
  /** Nodes that were silent, with the code of the error, and those that answered again. */
  readonly silences: (readonly [string, string | undefined])[] = [];
  /** Of the runs, as nodes were told them. */
  readonly secrets: Uint8Array[] = [];
  /** Nodes to which no new connection can be made. */
  readonly outOfReach = new Set<string>();
  /** Supervisors that were connected to, by node; the newest last. */
  readonly supervisors: Readonly<Record<Node, number[]>> = {
    'this-computer': [],
    box: [],
  };
  #coordinator: RunCoordinator | undefined;
  readonly #others = new AsyncDisposableStack();

  readonly #addresses: NodeAddresses;

  private constructor(homes: TwoHomes['homes'], addresses: NodeAddresses) {
    this.homes = homes;
    this.#addresses = addresses;
    this.store = RunStore.open(homes['this-computer'].database);
  }

  /** @param addresses where the nodes believe to find one another */
  static async open(addresses = LOOPBACK): Promise<TwoHomes> {
    const [here, box] = await Promise.all(NODES.map(makeHome));
    return new TwoHomes({ 'this-computer': here!, box: box! }, addresses);
  }

  /** The app's own side, opened anew after `leave`. */
  get coordinator(): RunCoordinator {
    this.#coordinator ??= new RunCoordinator(this.#options());
    return this.#coordinator;
  }

  get records(): readonly RunRecord[] {
    return this.heard.map(({ record }) => record);
  }

  /** That of another process of the same user. */
  another(): RunCoordinator {
    const store = RunStore.open(this.homes['this-computer'].database);
    const events = {
      ...SILENT,
      notice: (error: ErrorData) => this.notices.push(error),
    };
    const coordinator = new RunCoordinator({ ...this.#options(), store, events });
    this.#others.defer(async () => {
      await coordinator.close();
      store.close();
    });
    return coordinator;
  }

  /** As the app does when it closes: runs go on. */
  async leave(): Promise<void> {
    await this.#coordinator?.close();
    this.#coordinator = undefined;
  }

  /** The processes of a run's ranks on a node. */
  workers(run: string, node: Node): readonly ProcessEntry[] {
    const supervisor = this.supervisors[node].at(-1)!;
    return childrenOf(supervisor, `gradwire worker ${run} `);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
    await this.#others.disposeAsync();
    this.store.close();
    for (const node of NODES) {
      for (const pid of this.supervisors[node]) {
        if (isAlive(pid)) process.kill(pid, 'SIGTERM');
        await until(
          () => isAlive(pid),
          (alive) => !alive,
          `the supervisor of ${node} to end`,
        );
      }
      rmSync(this.homes[node].directory, { recursive: true });
    }
  }

  #options(): CoordinatorOptions {
    const here = this.#node('this-computer');
    const box = {
      ...this.#node('box'),
      addresses: () => this.#addresses,
    };
    return {
      store: this.store,
      nodes: {
        lead: here.name,
        names: () => NODES,
        access: (name) => [here, box].find((node) => node.name === name),
      },
      scope: 'own',
      events: {
        changed: () => undefined,
        records: (_, entries) => this.heard.push(...entries),
        notice: (error) => this.notices.push(error),
        outOfReach: (_, error) => this.notices.push(error),
        silent: (node, error) => this.silences.push([node, error?.code]),
      },
    };
  }

  /** Notes the secrets that are told over a connection. */
  #listen(connection: ControlConnection): void {
    const request = connection.request.bind(connection);
    connection.request = (method, body, deadlineMs) => {
      if ('secret' in body) this.secrets.push(body.secret as Uint8Array);
      return request(method, body, deadlineMs);
    };
  }

  #node(name: Node): NodeAccess {
    const node = localNode(this.homes[name], name);
    const seen = <C extends ControlConnection | undefined>(connection: C): C => {
      const pid = connection?.hello.pid;
      const pids = this.supervisors[name];
      if (pid !== undefined && !pids.includes(pid)) pids.push(pid);
      if (connection !== undefined) this.#listen(connection);
      return connection;
    };
    const reach = async (): Promise<void> => {
      await Promise.resolve();
      if (!this.outOfReach.has(name)) return;
      throw failure('SSH_UNREACHABLE', 'no route to host', { place: name });
    };
    return {
      ...node,
      find: (handlers) => reach().then(() => node.find(handlers).then(seen)),
      ensure: (handlers) => reach().then(() => node.ensure(handlers).then(seen)),
    };
  }
}

async function makeHome(): Promise<Home> {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'gw-node-'));
  return openHome(resolveHome({ GRADWIRE_HOME: directory }));
}
