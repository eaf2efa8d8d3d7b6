/**
 * The machines as the app shows them, and the user's actions on them: check, deploy,
 * uninstall. One action at a time on each machine; each can be cancelled. What is found out
 * about machines is in the store.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  failure,
  inputError,
  GradwireError,
  toErrorData,
} from '../../shared/errors/errors.ts';
import type { FoundRun } from '../../shared/machines/found-run.ts';
import {
  LOCAL_NODE,
  parseNodeEntry,
  wayTo,
  type NodeEntry,
} from '../../shared/machines/node-entry.ts';
import type {
  DeployProgress,
  NodeActivity,
  NodeActivityKind,
  NodeConnection,
  NodeEdit,
  NodeStatus,
} from '../../shared/machines/node-status.ts';
import type { RunStatus } from '../../shared/protocol/supervisor.ts';
import type { Inventory } from '../cluster/inventory.ts';
import type { RemoteNode } from '../cluster/remote-node.ts';
import { foundRuns } from '../runs/found-runs.ts';
import { changeNode } from '../runs/node-change.ts';
import type { RunStore } from '../store/run-store.ts';

export interface NodeDeskOptions {
  readonly store: RunStore;
  readonly inventory: Inventory;
  /** The state of the connection that runs use. */
  readonly connection: (node: string) => NodeConnection;
  /** Reads the node's records of runs that ended while it was out of reach. */
  readonly collect: (node: string) => Promise<void>;
  /**
   * The machine has answered: it is no longer unreachable, and a connection that waited for
   * the user is made again.
   */
  readonly reached: (node: string) => Promise<void>;
  /** The runs that a connected machine has; undefined if it is not connected. */
  readonly runsOn: (node: string) => Promise<readonly RunStatus[] | undefined>;
  /** Closes that connection. */
  readonly release: (node: string) => Promise<void>;
  /** A run that was presumed lost is in progress on a machine. */
  readonly reopened: (run: string) => void;
  /** Called when the result of `list` changes. */
  readonly changed: () => void;
}

/** The actions on a machine, known while the app runs. */
interface Known {
  /** The route to the machine that they belong to. */
  readonly way?: string | undefined;
  readonly activity?: NodeActivity | undefined;
  readonly found?: readonly FoundRun[] | undefined;
  readonly error?: NodeStatus['error'];
}

export class NodeDesk {
  readonly #options: NodeDeskOptions;
  readonly #known = new Map<string, Known>();
  readonly #cancels = new Map<string, AbortController>();
  /** Deployments that runs need, by machine. */
  readonly #deployments = new Map<string, () => void>();

  constructor(options: NodeDeskOptions) {
    this.#options = options;
  }

  /**
   * Lists the machines: this computer first, then the others in the order in which they were
   * added.
   */
  list(): readonly NodeStatus[] {
    const { store, connection } = this.#options;
    const unended = store.runs.unended();
    const followed = new Set(unended.map(({ id }) => id));
    const statusOf = (name: string, entry?: NodeEntry): NodeStatus => {
      const { way, ...known } = this.#known.get(name) ?? {};
      const found = known.found?.filter(({ id }) => !followed.has(id));
      const identity = this.#wayOf(entry);
      const state = connection(name);
      const own: Partial<Known> = way === identity ? { ...known, found } : {};
      return {
        name,
        entry,
        ...state,
        ...store.facts.of({ name, identity }),
        ...own,
        error: own.error ?? state.silence?.error,
        runs: unended
          .filter(({ nodes }) => nodes.includes(name))
          .map((run) => ({ id: run.id, name: run.name })),
      };
    };
    return [
      statusOf(LOCAL_NODE),
      ...store.nodes.list().map((entry) => statusOf(entry.name, entry)),
    ];
  }

  /** @throws GradwireError `NODE_INVALID`, `NODE_EXISTS` */
  add(raw: unknown): void {
    this.#options.store.nodes.add(this.#options.inventory.parse(raw));
    this.#options.changed();
  }

  /**
   * @param shown the entry that the user saw; later changes are not overwritten
   * @throws GradwireError `NODE_INVALID`, `NODE_BUSY` and as `changeNode`
   */
  edit(name: string, raw: unknown, { shown, sameMachine }: NodeEdit): void {
    const { store, inventory } = this.#options;
    const entry = inventory.parse(raw);
    const before =
      shown === undefined ? store.nodes.named(name) : parseNodeEntry(shown);
    const isElsewhere = wayTo(entry) !== wayTo(before) || entry.name !== name;
    const { activity, ...known } = this.#known.get(name) ?? {};
    if (isElsewhere && activity !== undefined) throw busy(name, activity);
    changeNode(store, { ...before, name }, entry, { sameMachine });
    if (entry.name !== name) {
      this.#known.delete(name);
      this.#known.set(entry.name, known);
    }
    this.#options.changed();
  }

  /** @throws GradwireError `NODE_UNKNOWN`, `NODE_IN_USE` */
  remove(name: string): void {
    const { store } = this.#options;
    store.nodes.named(name);
    const busy = store.runs.unended().find(({ nodes }) => nodes.includes(name));
    if (busy !== undefined) {
      throw inputError('NODE_IN_USE', `“${busy.name}” has ranks on ${name}`, {
        next: 'Stop that run first.',
      });
    }
    this.cancel(name);
    store.nodes.remove(name);
    this.#known.delete(name);
    this.#options.changed();
  }

  /** Inspects a machine, or this computer. */
  async check(name: string): Promise<void> {
    const { inventory, reached, store } = this.#options;
    await this.#act(name, 'check', async (signal) => {
      await inventory.check(name, signal);
      await reached(name);
      if (name === LOCAL_NODE) return;
      const node = inventory.remote(store.nodes.named(name));
      this.#note(name, { found: await this.#findRuns(node) }, node.identity);
    });
  }

  async deploy(name: string): Promise<void> {
    await this.#act(name, 'deploy', async (signal) => {
      const { inventory, store, reached } = this.#options;
      const entry = store.nodes.named(name);
      await inventory.remote(entry).deploy({ signal });
      const { preflight } = store.facts.of({ name, identity: wayTo(entry) });
      if (preflight === undefined) await inventory.check(name, signal);
      await reached(name);
    });
  }

  /**
   * Stops a run there, whoever started it.
   * @throws GradwireError `RUN_UNKNOWN`
   */
  async stopRun(name: string, run: string): Promise<void> {
    const node = this.#options.inventory.remote(this.#options.store.nodes.named(name));
    try {
      await node.stopRun(run);
    } finally {
      this.#note(name, { found: await this.#findRuns(node) }, node.identity);
    }
  }

  /** Notes what connected machines run: others may have begun or ended runs there. */
  async look(): Promise<void> {
    await Promise.all(
      this.#options.store.nodes.list().map((entry) => this.#look(entry)),
    );
  }

  async #look(entry: NodeEntry): Promise<void> {
    const { reopened, store, runsOn } = this.#options;
    const { name } = entry;
    try {
      const runs = await runsOn(name);
      if (runs === undefined) return;
      const found = foundRuns(store, name, runs, reopened);
      const known = this.#known.get(name);
      const way = wayTo(entry);
      if (known?.way === way && isDeepStrictEqual(found, known.found)) return;
      this.#note(name, { found }, way);
    } catch (error) {
      // The connection is lost again, which its state shows.
      if (!(error instanceof GradwireError)) throw error;
    }
  }

  /** Runs in progress there that are not followed here. */
  async #findRuns(node: RemoteNode): Promise<readonly FoundRun[]> {
    const { reopened, runsOn, store } = this.#options;
    const { name } = node;
    const runs = (await runsOn(name)) ?? (await node.runs()) ?? [];
    return foundRuns(store, name, runs, reopened);
  }

  async uninstall(name: string): Promise<void> {
    await this.#act(name, 'uninstall', async (signal) => {
      const { collect, inventory, release, store } = this.#options;
      const node = inventory.remote(store.nodes.named(name));
      await unlessCancelled(name, signal, collect(name));
      // A supervisor stays while a client is connected to it.
      await unlessCancelled(name, signal, release(name));
      await node.uninstall(false, signal);
    });
  }

  /** Cancels a machine's current action, or a deployment that a run waits for. */
  cancel(name: string): void {
    this.#cancels.get(name)?.abort();
    this.#deployments.get(name)?.();
  }

  /**
   * A step of any deployment; undefined when it has ended. A deployment for a run is shown once it
   * uploads something: before that it is only a check.
   */
  progress(
    name: string,
    progress: DeployProgress | undefined,
    cancel: () => void,
  ): void {
    if (progress === undefined) this.#deployments.delete(name);
    else this.#deployments.set(name, cancel);
    const kind = this.#known.get(name)?.activity?.kind;
    const isOwn = this.#cancels.has(name);
    if (progress === undefined) {
      if (!isOwn && kind !== undefined) this.#note(name, { activity: undefined });
    } else if (kind !== undefined || progress.totalBytes !== undefined) {
      this.#note(name, { activity: { kind: kind ?? 'deploy', progress } });
    }
  }

  close(): void {
    for (const controller of this.#cancels.values()) controller.abort();
  }

  /** @throws GradwireError `NODE_UNKNOWN`, `NODE_BUSY` and what the action throws */
  async #act(
    name: string,
    kind: NodeActivityKind,
    action: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const { nodes } = this.#options.store;
    const way = this.#wayOf(name === LOCAL_NODE ? undefined : nodes.named(name));
    const under = this.#known.get(name)?.activity;
    if (under !== undefined) throw busy(name, under);
    const controller = new AbortController();
    this.#cancels.set(name, controller);
    this.#note(name, { activity: { kind }, error: undefined }, way);
    try {
      await action(controller.signal);
    } catch (error) {
      this.#note(name, { error: toErrorData(error) }, way);
      throw error;
    } finally {
      this.#cancels.delete(name);
      this.#note(name, { activity: undefined }, way);
    }
  }

  /** @param seen the route by which it was found; default: it says nothing about the machine */
  #note(name: string, news: Known, seen?: string): void {
    const entry = this.#options.store.nodes.get(name);
    const isThere = entry !== undefined || name === LOCAL_NODE;
    const way = isThere ? this.#wayOf(entry) : undefined;
    const before = this.#known.get(name);
    const known = before?.way === way ? before : undefined;
    // Removed or changed meanwhile: the finding may belong to another machine.
    if (way === undefined || (seen !== undefined && seen !== way))
      this.#known.delete(name);
    else this.#known.set(name, { ...known, ...news, way });
    this.#options.changed();
  }

  /** @param entry undefined for this computer */
  #wayOf(entry: NodeEntry | undefined): string {
    return entry === undefined ? this.#options.inventory.here : wayTo(entry);
  }
}

/**
 * Waits for work unless the wait is cancelled. Work that cannot be cancelled itself goes on,
 * and nobody waits for it.
 * @throws GradwireError `ABORTED`
 */
async function unlessCancelled(
  name: string,
  signal: AbortSignal,
  work: Promise<void>,
): Promise<void> {
  const cancelled = Promise.withResolvers<never>();
  const abort = (): void => {
    cancelled.reject(failure('ABORTED', 'uninstalling was cancelled', { place: name }));
  };
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    await Promise.race([work, cancelled.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
    work.catch(() => undefined); // after a cancellation nobody asks
    cancelled.promise.catch(() => undefined);
  }
}

function busy(name: string, { kind }: NodeActivity): GradwireError {
  return failure('NODE_BUSY', `${kind} is under way on ${name}`, {
    place: name,
    next: 'Wait for it, or cancel it.',
  });
}
