/** A coordinator with a home and a history of its own, against a supervisor that follows a script. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { localNode } from '../../../src/main/cluster/local-node.ts';
import type { NodeAccess } from '../../../src/main/cluster/node-access.ts';
import { openHome, resolveHome, type Home } from '../../../src/main/home/home.ts';
import { RunCoordinator } from '../../../src/main/runs/coordinator.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import type { ErrorData } from '../../../src/shared/errors/errors.ts';
import type { RunStatus } from '../../../src/shared/protocol/supervisor.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import { sampleSpec, wholeRun } from '../../unit/main/sample-records.ts';
import { ScriptedSupervisor, type Script } from './scripted-supervisor.ts';

export const spec = sampleSpec({ iterations: 50 });
/** A run of that spec, from its start to its end. */
export const run = wholeRun(50);

/** The state of such a run as a supervisor says it. */
export function supervised(id: string, overrides: Partial<RunStatus> = {}): RunStatus {
  return {
    run: id,
    phase: 'running',
    spec,
    lastSequence: run.length,
    createdAt: 5,
    ...overrides,
  };
}

export class ScriptedCoordinator {
  readonly home: Home;
  readonly store: RunStore;
  /** The records that the coordinator told. */
  readonly heard: JournalEntry[] = [];
  readonly notices: ErrorData[] = [];
  #played: { coordinator: RunCoordinator; supervisor: ScriptedSupervisor } | undefined;

  private constructor(home: Home) {
    this.home = home;
    this.store = RunStore.open(home.database);
    // The losses of the sample rise.
    this.store.settings.set('alerts.loss-rising.on', false);
  }

  static async open(): Promise<ScriptedCoordinator> {
    const directory = mkdtempSync(path.join(os.tmpdir(), 'gw-coordinator-'));
    const home = await openHome(resolveHome({ GRADWIRE_HOME: directory }));
    return new ScriptedCoordinator(home);
  }

  /** Starts the supervisor, and a coordinator that asks it. */
  async play(
    script: Script,
    scope: 'all' | 'own' = 'own',
    others: readonly NodeAccess[] = [],
  ): Promise<void> {
    const supervisor = await ScriptedSupervisor.listen(this.home.socket, script);
    const own = localNode(this.home);
    const coordinator = new RunCoordinator({
      store: this.store,
      nodes: {
        lead: own.name,
        names: () => [own, ...others].map(({ name }) => name),
        access: (name) => [own, ...others].find((access) => access.name === name),
      },
      scope,
      events: {
        changed: () => undefined,
        records: (_, entries) => this.heard.push(...entries),
        notice: (error) => {
          this.notices.push(error);
        },
        outOfReach: () => undefined,
      },
    });
    this.#played = { coordinator, supervisor };
  }

  get coordinator(): RunCoordinator {
    return this.#played!.coordinator;
  }

  get supervisor(): ScriptedSupervisor {
    return this.#played!.supervisor;
  }

  createRun(id: string, launcher?: string): void {
    this.store.create({ id, spec, switches: [], createdAt: 1, launcher });
  }

  storedRun(id: string): readonly JournalEntry[] {
    return this.store.reads.entriesAfter(id, 0);
  }

  async close(): Promise<void> {
    await this.#played?.coordinator.close();
    await this.#played?.supervisor.close();
    this.store.close();
    rmSync(this.home.directory, { recursive: true });
  }
}
