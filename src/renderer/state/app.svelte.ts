/**
 * The app's own state, one per page: the line to the host, the host's abilities, the
 * latest runs, and shared pieces of all views.
 */
import { createContext } from 'svelte';
import type { Comparison } from '../../shared/comparison/comparison.ts';
import type { Catalogue } from '../../shared/catalogue/catalogue.ts';
import { describeCatchUp, type CatchUp } from '../../shared/records/catch-up.ts';
import { toErrorData, type ErrorData } from '../../shared/errors/errors.ts';
import { exportFileName } from '../../export/file-name.ts';
import type { ExportFormat } from '../../shared/records/export-format.ts';
import type { ExportTableId } from '../../shared/records/export-tables.ts';
import type { AppApi, AppInfo, Preset } from '../../shared/rpc/rpc.ts';
import { unitsOf } from '../../shared/settings/unit-settings.ts';
import { provideUnits } from '../../shared/words/display-units.ts';
import type { ToldAlert } from '../../shared/alerts/told-alert.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import { ClusterState } from './cluster/cluster.svelte.ts';
import { CommandRegistry } from './page/commands.svelte.ts';
import type { Connection, ConnectionStatus } from './host/host-connection.ts';
import type { Draft } from './experiment/spec-draft.ts';
import { notifyOutOfSight } from './page/desktop-notification.ts';
import { HomeSettings } from './settings/home-settings.svelte.ts';
import { DataSets } from './experiment/data-sets.svelte.ts';
import { Preferences } from './page/preferences.svelte.ts';
import { Router } from './page/router.svelte.ts';
import { RunActions } from './runs/run-actions.ts';
import { RunListChoices } from './runs/run-list.svelte.ts';
import { isLive } from './runs/run-state.ts';
import { saveFile } from './host/save-file.ts';
import { Terminals } from './terminals/terminals.svelte.ts';
import { Toasts } from './page/toasts.svelte.ts';

/** Runs kept at hand for the rail and the start page. */
const RECENT = 20;
/** Time within which runs that are deleted together are told. */
const FILL_MS = 200;

export class AppState {
  readonly connection: Connection;
  readonly api: AppApi;
  readonly router = new Router();
  readonly preferences = new Preferences();
  readonly runList = new RunListChoices();
  readonly toasts = new Toasts();
  readonly settings: HomeSettings;
  readonly runActions: RunActions;
  readonly commands: CommandRegistry;
  readonly cluster: ClusterState;
  readonly dataSets: DataSets;
  readonly terminals: Terminals;

  /** A spec that another view has made, for the next new experiment. */
  #handedOver: Draft | undefined;
  #status = $state.raw<ConnectionStatus>('reconnecting');
  #info = $state.raw<AppInfo>();
  #catalogue = $state.raw<Catalogue>();
  #catalogueError = $state.raw<ErrorData>();
  #presets = $state.raw<readonly Preset[]>();
  #recent = $state.raw<readonly RunSummary[]>();
  readonly #stops: (() => void)[] = [];
  #filling: ReturnType<typeof setTimeout> | undefined;

  constructor(connection: Connection) {
    this.connection = connection;
    this.api = connection.api;
    this.#status = connection.status;
    this.runActions = new RunActions(connection.api, this.toasts);
    this.cluster = new ClusterState(connection, this.toasts);
    this.dataSets = new DataSets(connection, this.toasts);
    this.settings = new HomeSettings(connection, this.toasts);
    provideUnits(() => unitsOf(this.settings.values ?? {}));
    this.terminals = new Terminals(connection);
    this.commands = new CommandRegistry(/Mac|iP(hone|ad)/.test(navigator.userAgent));
    this.#stops.push(
      connection.on('status', (status) => {
        this.#status = status;
      }),
      connection.on('runChanged', (summary) => this.#noteRun(summary)),
      connection.on('caughtUp', (catchUp) => this.#tellCatchUp(catchUp)),
      connection.on('notice', (error) => this.toasts.error(error)),
      connection.on('alert', (alert) => this.#tellAlert(alert)),
      connection.on('historyPurged', () => this.#loadRecent()),
      connection.on('resync', () => this.load()),
      connection.on('hostCommand', (id) => this.commands.run(id)),
    );
    this.load();
  }

  get status(): ConnectionStatus {
    return this.#status;
  }

  get info(): AppInfo | undefined {
    return this.#info;
  }

  /** The agent's catalogue; undefined while it is being requested, and if it is unavailable. */
  get catalogue(): Catalogue | undefined {
    return this.#catalogue;
  }

  get catalogueError(): ErrorData | undefined {
    return this.#catalogueError;
  }

  get presets(): readonly Preset[] | undefined {
    return this.#presets;
  }

  /** The latest runs, newest first; undefined until they are known. */
  get recent(): readonly RunSummary[] | undefined {
    return this.#recent;
  }

  get live(): readonly RunSummary[] {
    return (this.#recent ?? []).filter(isLive);
  }

  /** Gives a spec to the next new experiment. */
  handOver(spec: Draft): void {
    this.#handedOver = spec;
  }

  /** Returns a spec that was handed over, once. */
  takeHandedOver(): Draft | undefined {
    const spec = this.#handedOver;
    this.#handedOver = undefined;
    return spec;
  }

  /** Requests everything from the host again. */
  load(): void {
    if (this.connection.status !== 'connected') return;
    void this.#ask(this.api.info(), (info) => (this.#info = info));
    void this.#ask(this.api.presets(), (presets) => (this.#presets = presets));
    this.#loadRecent();
    void this.#ask(this.api.catchUps(), (catchUps) => {
      for (const catchUp of catchUps) this.#tellCatchUp(catchUp);
    });
    void this.#ask(this.api.notices(), (notices) => {
      for (const notice of notices) this.toasts.error(notice);
    });
    void this.cluster.load();
    void this.dataSets.load();
    void this.settings.load();
    this.loadCatalogue();
  }

  #loadRecent(): void {
    void this.#ask(
      this.api.runs({ limit: RECENT, live: true }),
      (recent) => (this.#recent = recent),
    );
  }

  loadCatalogue(): void {
    this.#catalogueError = undefined;
    this.api.catalogue().then(
      (catalogue) => (this.#catalogue = catalogue),
      (error: unknown) => {
        this.#catalogueError = toErrorData(error);
      },
    );
  }

  /**
   * Starts a run and shows it.
   * @param switchesOf a run whose switches are repeated
   * @returns the error if it did not start
   */
  async launch(spec: unknown, switchesOf?: string): Promise<ErrorData | undefined> {
    return this.#open(
      switchesOf === undefined
        ? this.api.launch(spec)
        : this.api.launch(spec, switchesOf),
    );
  }

  async relaunch(run: string): Promise<void> {
    const error = await this.#open(this.api.relaunch(run));
    if (error !== undefined) this.toasts.error(error);
  }

  /** Saves the run's records as a file, and says how far it is; it may be cancelled. */
  async exportRun(
    run: string,
    format: ExportFormat,
    table?: ExportTableId,
  ): Promise<void> {
    const name = exportFileName(run, format, table);
    const cancelled = new AbortController();
    const message = this.toasts.lasting(`Exporting ${name}`, {
      title: 'Cancel',
      run: () => cancelled.abort(),
    });
    let told = 0;
    const progress = (part: number): void => {
      const percent = Math.floor(part * 20) * 5;
      if (percent === told) return;
      told = percent;
      message.update(`Exporting ${name}: ${percent} %`);
    };
    try {
      const { readRunFile } = await import('./runs/run-file.ts');
      const { signal } = cancelled;
      const createdBy = `gradwire ${this.info?.version ?? ''}`.trim();
      const file = await readRunFile(this.api, run, {
        format,
        table,
        createdBy,
        progress,
        signal,
      });
      if (file !== undefined) saveFile(name, file);
    } catch (error) {
      this.toasts.error(error);
    } finally {
      message.close();
    }
  }

  /** Saves a report of the run: one file that opens without a network. */
  async reportRun(run: string): Promise<void> {
    const name = `gradwire-${run}.html`;
    const message = this.toasts.lasting(`Writing ${name}`, undefined);
    try {
      const { runReportFile } = await import('./report-file.ts');
      saveFile(name, await runReportFile(this.api, run, this.info));
    } catch (error) {
      this.toasts.error(error);
    } finally {
      message.close();
    }
  }

  /** Saves a report of a comparison, with the numbers that the page shows. */
  async reportComparison(comparison: Comparison): Promise<void> {
    try {
      const { comparisonReportFile } = await import('./report-file.ts');
      const file = comparisonReportFile(comparison, this.info);
      saveFile('gradwire-comparison.html', file);
    } catch (error) {
      this.toasts.error(error);
    }
  }

  close(): void {
    for (const stop of this.#stops) stop();
    this.cluster.close();
    this.dataSets.close();
    this.settings.close();
    this.terminals.close();
    this.router.close();
    this.preferences.close();
    clearTimeout(this.#filling);
    this.toasts.close();
    this.connection.close();
  }

  async #open(starting: Promise<RunSummary>): Promise<ErrorData | undefined> {
    try {
      const summary = await starting;
      this.#noteRun(summary);
      this.router.go({ view: 'run', run: summary.id });
      return undefined;
    } catch (error) {
      return toErrorData(error);
    }
  }

  #tellCatchUp(catchUp: CatchUp): void {
    this.toasts.info(describeCatchUp(catchUp), {
      title: 'Show',
      run: () => this.router.go({ view: 'run', run: catchUp.run }),
    });
  }

  #tellAlert({ message, name, run, title }: ToldAlert): void {
    const show = (): void => this.router.go({ view: 'run', run });
    this.toasts.info(`${title}: ${message} (${name})`, { title: 'Show', run: show });
    // The window's host shows it itself.
    if (this.info?.host === 'browser' && this.settings.values?.['notify.desktop']) {
      notifyOutOfSight(`${title}: ${name}`, message, show);
    }
  }

  #noteRun(summary: RunSummary): void {
    const before = this.#recent ?? [];
    const others = before.filter((run) => run.id !== summary.id);
    const all = summary.deleted ? others : [...others, summary];
    this.#recent = all
      .toSorted((a, b) => b.createdAt - a.createdAt || b.id.localeCompare(a.id))
      .filter((run, place) => place < RECENT || isLive(run));
    // Older runs take the place of one that has left the list.
    if (summary.deleted && others.length < before.length) this.#fillRecent();
  }

  /** Reads the latest runs again, once for many that leave the list together. */
  #fillRecent(): void {
    this.#filling ??= setTimeout(() => {
      this.#filling = undefined;
      this.#loadRecent();
    }, FILL_MS);
  }

  async #ask<T>(asked: Promise<T>, take: (answer: T) => void): Promise<void> {
    try {
      take(await asked);
    } catch (error) {
      this.toasts.error(error);
    }
  }
}

export const [useApp, provideApp] = createContext<AppState>();
