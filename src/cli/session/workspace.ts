/**
 * The workspace of a command: the home's store and a coordinator, opened for one command and
 * closed after it. Where no run and no other client is left, the supervisor ends too; the
 * command waits for that, so that it leaves no process behind.
 */
import { machineTitle } from '../../shared/machines/machine-names.ts';
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describeCatchUp } from '../../shared/records/catch-up.ts';
import type { ErrorData } from '../../shared/errors/errors.ts';
import { formatError, GradwireError, toErrorData } from '../../shared/errors/errors.ts';
import { unitsOf } from '../../shared/settings/unit-settings.ts';
import { provideUnits } from '../../shared/words/display-units.ts';
import { openHome, type Home } from '../../main/home/home.ts';
import { isAlive } from '../../main/home/process-life.ts';
import { loadNetworkProfile } from '../../main/home/network-profile-file.ts';
import { AppLock } from '../../main/home/app-lock.ts';
import { RunCoordinator } from '../../main/runs/coordinator.ts';
import type { CoordinatorEvents } from '../../main/runs/run-news.ts';
import { Inventory, type InventoryOptions } from '../../main/cluster/inventory.ts';
import type { HistoryUse } from '../../main/store/database.ts';
import { RunStore } from '../../main/store/run-store.ts';
import { keepHeapSmall } from '../../main/store/small-heap.ts';
import { Upkeep } from '../../main/store/upkeep.ts';
import { Deployments } from './deployments.ts';

/** Most time that a command takes longer for the history of an older version. */
const UPKEEP_MS = 300;
const SUPERVISOR_EXIT_MS = 1000;
const LAST_ACT_MS = 100;
const POLL_MS = 10;

export interface Workspace {
  readonly home: Home;
  readonly store: RunStore;
  readonly inventory: Inventory;
  readonly coordinator: RunCoordinator;
  /** The coordinator's events; replaced by a command that listens. */
  readonly events: { -readonly [E in keyof CoordinatorEvents]: CoordinatorEvents[E] };
  /** Deployments that the command needs. */
  readonly deployments: Deployments;
  /** Rejects with trouble that no call reports, such as a full disk. */
  readonly trouble: Promise<never>;
}

/** Options for connecting: questions, confirmed host keys, and messages. */
export interface WorkspaceOptions extends Pick<
  InventoryOptions,
  'questions' | 'confirmedHostKeys' | 'progress'
> {
  /** Whether somebody is there to be asked again when a connection was lost. */
  readonly mayAsk?: boolean | undefined;
  /** `brief` for a command that reads and soon ends: it spends nothing of a full disk's reserve. */
  readonly use?: HistoryUse | undefined;
}

/** Opens the workspace, does the work, closes it whatever happens. */
export async function withWorkspace<T>(
  work: (workspace: Workspace) => Promise<T>,
  { mayAsk, use, ...options }: WorkspaceOptions = {},
): Promise<T> {
  keepHeapSmall();
  const home = await openHome();
  const store = openPrivately(home, use);
  const units = unitsOf(store.settings.all());
  provideUnits(() => units);
  if (store.readOnly !== undefined) {
    process.stderr.write(`gradwire: ${formatError(store.readOnly)}\n`);
  }
  const upkeep = new Upkeep(store.space, (error) => {
    process.stderr.write(`gradwire: ${formatError(toErrorData(error))}\n`);
  });
  using deployments = new Deployments();
  const inventory = new Inventory({
    home,
    entries: store.nodes,
    facts: store.facts,
    progress: deployments.progress,
    ...options,
  });
  try {
    const { promise: trouble, reject } = Promise.withResolvers<never>();
    // Commands that race against it see it; to the others it is not an event.
    trouble.catch(() => undefined);
    const events: Workspace['events'] = {
      changed: () => undefined,
      records: () => undefined,
      notice: (error: ErrorData) => {
        reject(new GradwireError(error));
      },
      alertUntold: (error) => {
        process.stderr.write(`gradwire: ${formatError(error)}\n`);
      },
      caughtUp: (catchUp) => {
        process.stderr.write(`gradwire: ${describeCatchUp(catchUp)}\n`);
      },
      silent: (node, error) => {
        const news =
          error === undefined
            ? `${machineTitle(node)} answers again`
            : `${machineTitle(node)} does not answer: ${formatError(error)}`;
        process.stderr.write(`gradwire: ${news}\n`);
      },
      outOfReach: sayOnce(
        (node, error) => `${machineTitle(node)} cannot be reached: ${error}`,
      ),
    };
    const coordinator = new RunCoordinator({
      store,
      nodes: inventory,
      scope: 'own',
      mayAsk,
      networkProfile: () => loadNetworkProfile(home.networkProfile),
      events: {
        changed: (summary) => {
          events.changed(summary);
        },
        records: (run, entries) => {
          events.records(run, entries);
        },
        notice: (error) => {
          events.notice(error);
        },
        outOfReach: (node, error) => {
          events.outOfReach(node, error);
        },
        silent: (node, error) => {
          events.silent?.(node, error);
        },
        alertUntold: (error) => {
          events.alertUntold?.(error);
        },
        caughtUp: (catchUp) => {
          events.caughtUp?.(catchUp);
        },
      },
    });
    try {
      return await Promise.race([
        work({ home, store, inventory, coordinator, deployments, events, trouble }),
        trouble,
      ]);
    } finally {
      await leave(home, coordinator);
    }
  } finally {
    await inventory[Symbol.asyncDispose]();
    upkeep.finish(UPKEEP_MS);
    store.close();
  }
}

/** Opens it for a command that only reads, and soon ends. */
export const withHistory = <T>(
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> => withWorkspace(work, { use: 'brief' });

/**
 * The history's file is for the user alone; files that a command writes where the user says
 * get the user's own mode.
 */
function openPrivately({ database }: Home, use: HistoryUse | undefined): RunStore {
  const before = process.umask(0o077);
  try {
    return RunStore.open(database, use);
  } finally {
    process.umask(before);
  }
}

/** Prints each text once on stderr, since retries fail in the same way. */
function sayOnce(
  text: (node: string, error: string) => string,
): CoordinatorEvents['outOfReach'] {
  const said = new Set<string>();
  return (node, error) => {
    const line = text(node, formatError(error));
    if (!said.has(line)) process.stderr.write(`gradwire: ${line}\n`);
    said.add(line);
  };
}

async function leave(home: Home, coordinator: RunCoordinator): Promise<void> {
  const supervisor = coordinator.machines.supervisor();
  let needed: boolean;
  try {
    needed = supervisor === undefined || (await isNeeded(home, coordinator));
  } finally {
    // Whatever the question ended with: an open connection keeps this process alive.
    await coordinator.close();
  }
  if (needed || supervisor === undefined) return;
  let deadline = performance.now() + SUPERVISOR_EXIT_MS;
  let leaving = false;
  while (isAlive(supervisor) && performance.now() < deadline) {
    await pause(POLL_MS);
    if (leaving || process.platform === 'win32' || existsSync(home.socket)) continue;
    // It removes its socket as its last act. What is there after that is a dead process
    // whose parent has not yet taken note.
    leaving = true;
    deadline = Math.min(deadline, performance.now() + LAST_ACT_MS);
  }
}

/** Whether the supervisor stays when this client leaves. */
async function isNeeded(home: Home, coordinator: RunCoordinator): Promise<boolean> {
  try {
    return AppLock.isHeld(home) || (await coordinator.machines.hasLiveRuns());
  } catch (error) {
    // The supervisor was lost while it was asked, or the lock cannot be looked at on a
    // full disk: there is nothing to wait for, and what the command says matters more.
    if (error instanceof GradwireError) return true;
    throw error;
  }
}
