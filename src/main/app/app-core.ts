/**
 * The app's core, which a host (window or server) serves over its transport. One per
 * home: it holds the app lock, the store and the coordinator, answers the renderer's
 * calls and reports events to it. Closing it leaves runs to their supervisor.
 */
import os from 'node:os';
import { toErrorData, type ErrorData } from '../../shared/errors/errors.ts';
import { parseExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { LOCAL_NODE } from '../../shared/machines/node-entry.ts';
import type { AppInfo, CoreApi } from '../../shared/rpc/rpc.ts';
import type { TerminalEvents } from '../../shared/rpc/terminal.ts';
import { userHome } from '../home/user-home.ts';
import { Inventory } from '../cluster/inventory.ts';
import { AppLock } from '../home/app-lock.ts';
import { openHome, type Home } from '../home/home.ts';
import { appVersion } from '../home/installation.ts';
import { loadNetworkProfile, WatchedProfile } from '../home/network-profile-file.ts';
import { RunCoordinator } from '../runs/coordinator.ts';
import { loadPresets, parseSpecText, withOwnFiles } from '../spec/spec-source.ts';
import { changedYaml } from '../spec/changed-yaml.ts';
import { specToYaml } from '../spec/spec-yaml.ts';
import { RunStore } from '../store/run-store.ts';
import { keepHeapSmall } from '../store/small-heap.ts';
import { Upkeep } from '../store/upkeep.ts';
import { AppTerminals } from '../terminal/app-terminals.ts';
import type { PageTerminals } from '../terminal/page-terminals.ts';
import { FigureDesk } from '../figures/figure-desk.ts';
import { recordsApi } from './records-api.ts';
import { DataDesk } from './data-desk.ts';
import { EventOutbox, type AppListener } from './event-outbox.ts';
import { listFolder } from './folder-listings.ts';
import { HistoryDesk } from './history-desk.ts';
import { HistoryWatch } from './history-watch.ts';
import { LinkDesk } from './link-desk.ts';
import { NodeDesk } from './node-desk.ts';
import { PageAlerts } from './page-alerts.ts';
import { PlanDesk } from './plan-desk.ts';
import { RunDiscovery } from './run-discovery.ts';
import { RunsDesk } from './runs-desk.ts';
import { SettingsDesk } from './settings-desk.ts';
import { OpenQuestions } from './open-questions.ts';
import { SweepDesk } from './sweep-desk.ts';

/** Interval of checks whether another process has written to the database. */
const DISCOVERY_MS = 1000;
/**
 * Interval of looks at connected machines: round trips are measured, and what they run is
 * asked.
 */
const LOOK_MS = 5000;
const LOG_LINES = 200;

export interface AppCore {
  readonly api: CoreApi;
  /** Terminals of one page, which alone receives their output. */
  terminals(events: TerminalEvents): PageTerminals;
  /** Adds a page's listener; returns a function that removes it. */
  onEvent(listener: AppListener): () => void;
  /** Adds a listener of the host's own: notices still wait for a page. */
  observe(listener: AppListener): () => void;
  /** Tells the host's URL, without its token, for the error that a second host shows. */
  announce(url: string): void;
  /** Shows an error that no call of a page ended with. */
  report(error: unknown): void;
  /** Closes everything. Runs continue under their supervisor. */
  close(): Promise<void>;
}

export interface AppCoreOptions {
  readonly home: Home;
  readonly host: AppInfo['host'];
}

/**
 * @throws GradwireError `APP_ALREADY_RUNNING`, `HOME_UNUSABLE`, and what opening the
 * database throws
 */
export async function createAppCore({ home, host }: AppCoreOptions): Promise<AppCore> {
  keepHeapSmall();
  await openHome(home);
  const lock = AppLock.acquire(home, host);
  let store: RunStore;
  try {
    store = RunStore.open(home.database);
  } catch (error) {
    lock.release();
    throw error;
  }
  const outbox: EventOutbox = new EventOutbox({
    alerts: (summary) => pageAlerts.look(summary),
    nodes: () => desk.list(),
    nodeChanged: (node) => {
      const { connection, roundTripMs } = coordinator.machines.nodeConnection(node);
      // Only once for a connection: it is not measured yet.
      if (connection === 'connected' && roundTripMs === undefined) lookAtMachines();
    },
  });
  const pageAlerts = new PageAlerts(store);
  let closing: Promise<void> | undefined;
  const report = (error: unknown): void => {
    if (closing === undefined) outbox.notice(toErrorData(error));
  };
  const reporting = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      report(error);
    }
  };
  const questions = new OpenQuestions(() => {
    outbox.questionsChanged(questions.list());
  });
  const inventory = new Inventory({
    home,
    entries: store.nodes,
    questions,
    // Runs that it launches later go over the same connections.
    deploysUnasked: true,
    facts: {
      note: (node, news) => {
        store.facts.note(node, news);
        showNodes();
      },
    },
    progress: (node, progress, cancel) => {
      desk.progress(node, progress, cancel);
    },
  });
  const coordinator = new RunCoordinator({
    store,
    nodes: inventory,
    scope: 'all',
    networkProfile: () => loadNetworkProfile(home.networkProfile),
    events: outbox,
  });
  const lookAtMachines = (): void => {
    coordinator.machines.measureRoundTrips().catch(report);
    desk.look().catch(report);
  };
  const showNodes = (): void => {
    outbox.nodesChanged();
  };
  // Commands share the database, so runs that they launch are found and shown at once.
  const runDiscovery = new RunDiscovery(
    (isRepeated) => coordinator.discover(isRepeated),
    report,
  );
  const desk = new NodeDesk({
    store,
    inventory,
    changed: showNodes,
    connection: (node) => coordinator.machines.nodeConnection(node),
    collect: (node) => coordinator.following.collect(node),
    reached: async (node) => {
      coordinator.machines.resume(node);
      await coordinator.machines.reached(node);
    },
    runsOn: (node) => coordinator.machines.runsOn(node),
    release: (node) => coordinator.machines.release(node),
    reopened: (run) => {
      runDiscovery.note();
      outbox.changed(store.summary(run));
    },
  });
  const ownNetwork = new WatchedProfile(home.networkProfile);
  const linkDesk = new LinkDesk({
    own: () => ownNetwork.current,
    store,
    inventory,
    node: (name) => coordinator.machines.node(name),
    changed: () => {
      outbox.networkChanged(linkDesk.status());
    },
  });
  const dataDesk = new DataDesk({
    directory: home.data,
    changed: () => {
      outbox.dataSetsChanged(() => dataDesk.list());
    },
  });
  /** Machines have been added, changed or removed. */
  const lookAtNodes = (): void => {
    inventory.look();
    coordinator.machines.lookAtNodes();
    linkDesk.look();
  };
  const terminals = new AppTerminals(
    (node, size, signal) =>
      inventory.remote(store.nodes.named(node)).shell(size, signal),
    userHome,
  );
  const historyWatch = new HistoryWatch(store);
  const lookAtHistory = (): void => {
    const { changed, isPurged } = historyWatch.look();
    for (const summary of changed) outbox.changed(summary);
    if (isPurged) outbox.historyPurged();
  };
  const lookAtSettings = (): void => {
    settingsDesk.look();
  };
  const discover = (): void => {
    if (store.changedElsewhere()) {
      runDiscovery.note();
      // It is told once: one look that fails must not keep the others from what has changed.
      for (const look of [showNodes, lookAtNodes, lookAtHistory, lookAtSettings])
        reporting(look);
    }
    runDiscovery.look();
  };
  const discovery = setInterval(() => {
    reporting(discover);
  }, DISCOVERY_MS);
  const historyDesk = new HistoryDesk(store);
  const runsDesk = new RunsDesk(store, outbox, {
    note: (run) => {
      historyWatch.note(run);
    },
    look: lookAtHistory,
  });
  const planDesk = new PlanDesk({
    home,
    store,
    coordinator,
    outbox,
    ownProfile: () => ownNetwork.current,
  });
  const sweepDesk = new SweepDesk({ store, coordinator, outbox, report });
  const settingsDesk = new SettingsDesk(store, outbox);
  const figureDesk = new FigureDesk(home, (run) => store.has(run));
  const upkeep = new Upkeep(store.space, report);
  const looking = setInterval(lookAtMachines, LOOK_MS);
  const recovery = coordinator
    .recover()
    .catch(report)
    .then(() => {
      sweepDesk.begin();
    })
    // What this computer is like may have changed since it was last inspected.
    .then(() => (closing === undefined ? desk.check(LOCAL_NODE) : undefined))
    .catch(report);

  const api: CoreApi = {
    info: () =>
      Promise.resolve({
        version: appVersion(),
        host,
        platform: process.platform,
        cores: os.availableParallelism(),
        hostname: os.hostname(),
        home: home.directory,
      }),
    catalogue: () => coordinator.machines.catalogue(),
    presets: loadPresets,
    checkSpec: async (text) => {
      try {
        const given = parseExperimentSpec(parseSpecText(text, 'spec'));
        const checked = await coordinator.launches.validate(
          await withOwnFiles(given, userHome()),
        );
        // A model's file is read again when the run is launched.
        const { modelSource } = given.workload;
        const spec = { ...checked, workload: { ...checked.workload, modelSource } };
        return { ok: true, spec, yaml: specToYaml(spec) };
      } catch (thrown) {
        const error: ErrorData = toErrorData(thrown);
        if (error.kind !== 'input') throw thrown;
        return { ok: false, error };
      }
    },
    specToYaml: async (spec, written) =>
      written === undefined ? specToYaml(spec) : changedYaml(spec, written),
    launch: async (raw, switchesOf) => {
      // A window has no working directory: relative paths begin at the user's home.
      const spec = await withOwnFiles(parseExperimentSpec(raw), userHome());
      return switchesOf === undefined
        ? coordinator.launches.launch(spec)
        : coordinator.launches.launch(
            spec,
            await coordinator.launches.switchesOf(switchesOf),
          );
    },
    relaunch: (run) => coordinator.launches.relaunch(run),
    fetchMissing: (run) => coordinator.following.fetchMissing(run),
    ...coordinator.orders.api,
    // Calls that only read are async so that errors reject instead of throwing.
    ...runsDesk.api,
    ...planDesk.api,
    ...sweepDesk.api,
    ...settingsDesk.api,
    ...recordsApi(store),
    ...figureDesk.api,
    history: async () => historyDesk.status(),
    purge: async (runs) => {
      try {
        return await historyDesk.purge(runs);
      } finally {
        outbox.historyPurged();
      }
    },
    catchUps: async () => outbox.takeCatchUps(),
    notices: async () => outbox.takeNotices(),
    watch: async (run) => {
      const detail = store.reads.shown(run);
      outbox.watch(run);
      return detail;
    },
    unwatch: async (run) => {
      outbox.unwatch(run);
    },
    nodes: async () => desk.list(),
    importableHosts: async () => inventory.importableHosts(),
    addNode: async (entry) => {
      desk.add(entry);
      lookAtNodes();
    },
    editNode: async (name, entry, edit) => {
      desk.edit(name, entry, edit);
      lookAtNodes();
    },
    removeNode: async (name) => {
      desk.remove(name);
      lookAtNodes();
    },
    checkNode: (name) => desk.check(name),
    deployNode: (name) => desk.deploy(name),
    uninstallNode: (name) => desk.uninstall(name),
    stopOn: (node, run) => desk.stopRun(node, run),
    nodeLog: (name) => inventory.log(name, LOG_LINES),
    cancelNode: async (name) => {
      desk.cancel(name);
    },
    network: async () => linkDesk.status(),
    measureNetwork: async () => {
      await linkDesk.measure();
    },
    cancelNetwork: async () => {
      linkDesk.cancel();
    },
    dataSets: () => dataDesk.list(),
    fetchDataSet: async (id) => {
      dataDesk.fetch(id);
    },
    cancelDataSet: async (id) => {
      dataDesk.cancel(id);
    },
    folder: listFolder,
    questions: async () => questions.list(),
    answer: async (id, answer) => {
      questions.answer(id, answer);
    },
  };

  return {
    api,
    terminals: (events) => terminals.page(events),
    onEvent: (listener) => outbox.listen(listener),
    observe: (listener) => outbox.observe(listener),
    announce: (url) => {
      lock.announce(url);
    },
    report,
    close: () => {
      closing ??= (async () => {
        clearInterval(discovery);
        clearInterval(looking);
        // Sweeps leave before questions are refused, so that none fails because of it.
        const sweepsLeft = sweepDesk.close();
        questions.refuseAll();
        settingsDesk.close();
        upkeep.close();
        desk.close();
        planDesk.close();
        await figureDesk.close();
        await sweepsLeft;
        await linkDesk.close();
        await dataDesk.close();
        terminals.close();
        await coordinator.close();
        await recovery;
        await inventory[Symbol.asyncDispose]();
        outbox.close();
        store.close();
        lock.release();
      })();
      return closing;
    },
  };
}
