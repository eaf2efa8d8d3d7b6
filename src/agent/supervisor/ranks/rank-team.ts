/**
 * The processes of a run's ranks on this node, from their start until the last is gone. They
 * start and end together: when one fails the others are killed, and the report that explains
 * the others becomes the error.
 */
import type { RankOrder } from '../../../shared/orders/orders.ts';
import {
  failure,
  type ErrorData,
  type GradwireError,
} from '../../../shared/errors/errors.ts';
import { isJoining } from '../../../shared/spec/program-spec.ts';
import type { RankAddress } from '../../../shared/protocol/supervisor.ts';
import {
  fromWorkerSchema,
  type FromWorker,
  type ToWorker,
  type WrittenCheckpoint,
} from '../../../shared/protocol/worker.ts';
import type { LogRecord } from '../../../shared/records/log.ts';
import type { Notice } from '../../../shared/records/notice.ts';
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import type { FailureReport } from '../../../shared/errors/root-cause.ts';
import { bundledFile } from '../../bundle/bundled-file.ts';
import { FailureReports } from '../../world/failure-reports.ts';
import { parseReport } from '../../world/line-message.ts';
import { deathOf } from '../../world/rank-death.ts';
import type { RankPlacement } from '../../world/rank-placement.ts';
import {
  RankProcess,
  type ProcessBroken,
  type ProcessExit,
} from '../../world/rank-process.ts';
import { PrintedLog } from './printed-log.ts';
import { neverBegun, notStarted, silenceOf } from './rank-failures.ts';
import { admitError } from '../journal/record-admission.ts';
import { stoppedEarly } from './run-errors.ts';
import { SilenceWatch } from './silence-watch.ts';
import { StartLimit } from './start-limit.ts';
import { SuspensionWatch } from './suspension-watch.ts';
import { teamStart, type Ready, type TeamStart } from './team-start.ts';

type WorkerEvent = FromWorker | ProcessExit | ProcessBroken;
type WorkerProcess = RankProcess<ToWorker, FromWorker>;
type Configuration = Extract<ToWorker, { type: 'configure' }>;

const WORKER = { bundle: 'worker.js', source: '../../worker/main.ts' };

const PREPARE_MS = 60_000;
/** Each rank reads its data before it begins, and waits for those that still do. */
const READ_MS = 900_000;

export interface TeamOptions {
  readonly ranks: readonly number[];
  /** Configuration of each rank, without its number. */
  readonly configuration: Omit<Configuration, 'type' | 'rank'>;
  /** Names of this node: in records, and as errors show it. */
  readonly node: { readonly name: string; readonly title: string };
  /** Seconds for which ranks wait for each other. */
  readonly patienceSeconds: number;
  /** The ranks' machines, if not this one. */
  readonly placement?: RankPlacement | undefined;
}

export interface TeamListener {
  /** All ranks have connected: the first iteration begins. */
  started(started: TeamStart): void;
  records(rank: number, records: readonly unknown[]): void;
  checkpoint(rank: number, checkpoint: WrittenCheckpoint): void;
  /**
   * Lines that a rank has printed, even while the team fails: they may give the reason.
   */
  printed(lines: readonly LogRecord[]): void;
  /** A notice about the processes: worth knowing and not an error. */
  notice(notice: RunRecord): void;
  /** A rank's current iteration, if known. */
  underWay(rank: number): number | undefined;
  /** All processes are gone, with the error, if any. */
  ended(error: ErrorData | undefined): void;
}

export class RankTeam {
  readonly #options: TeamOptions;
  readonly #listener: TeamListener;
  readonly #workers = new Map<number, WorkerProcess>();
  readonly #logs = new Map<number, PrintedLog>();
  readonly #addresses = new Map<number, RankAddress>();
  readonly #ready = new Map<number, Ready>();
  /** Ranks whose exit is expected: they have finished or reported a failure. */
  readonly #leaving = new Set<number>();
  readonly #reports = new FailureReports(() => {
    this.#settled();
  });
  readonly #prepared = Promise.withResolvers<ReadonlyMap<number, RankAddress>>();
  readonly #limit: StartLimit;
  readonly #suspension: SuspensionWatch;
  /** Watches ranks on other machines, once they have begun. */
  #silence: SilenceWatch | undefined;
  #timer: NodeJS.Timeout | undefined;
  #begun = false;
  #failing = false;
  #stopping = false;
  #ended = false;

  constructor(options: TeamOptions, listener: TeamListener) {
    this.#options = options;
    this.#listener = listener;
    this.#prepared.promise.catch(() => undefined);
    this.#suspension = new SuspensionWatch({
      processes: () => this.#processesHere(),
      told: this.#notice,
    });
    const { configuration, placement } = options;
    const readMs = configuration.spec.workload.data === undefined ? 0 : READ_MS;
    this.#limit = new StartLimit(placement?.startMs ?? PREPARE_MS, readMs);
    this.#awaitStart();
    const entry = bundledFile(WORKER, import.meta.dirname);
    for (const rank of options.ranks) {
      const args = [configuration.run, String(rank)];
      const command = { entry, args, ...placement?.commandOf(rank, entry) };
      const log = new PrintedLog(rank, {
        iteration: () => listener.underWay(rank),
        write: (lines) => {
          listener.printed(lines);
        },
      });
      this.#logs.set(rank, log);
      const worker: WorkerProcess = new RankProcess(
        rank,
        command,
        (event) => {
          this.#receive(rank, event);
        },
        {
          printed: log.take,
          parse: parseReport(fromWorkerSchema, rank),
        },
      );
      this.#workers.set(rank, worker);
      const { listen } = configuration;
      worker.send({
        type: 'configure',
        rank,
        ...configuration,
        listen: placement?.listenOf(rank) ?? listen,
      });
    }
  }

  /** Resolves when all ranks listen. @throws (rejects) the first failure */
  get prepared(): Promise<ReadonlyMap<number, RankAddress>> {
    return this.#prepared.promise;
  }

  /** Whether it is failing; then reports of its ranks no longer count. */
  get failing(): boolean {
    return this.#failing;
  }

  /** Whether its ranks were asked to connect. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Whether all ranks have finished. */
  get finished(): boolean {
    return this.#leaving.size === this.#options.ranks.length;
  }

  begin(addresses: readonly RankAddress[]): void {
    clearTimeout(this.#timer);
    this.#begun = true;
    this.#send({ type: 'begin', addresses });
  }

  /** Gives every rank an order to the run, which waits until the ranks are connected. */
  tell(order: RankOrder): void {
    this.#send({ type: 'order', order });
  }

  /**
   * Gives one rank an order on which all ranks agree by themselves. If all were told, one that hears
   * of it after they have agreed would want it once more.
   */
  tellOne(order: RankOrder): void {
    const [first] = this.#workers.values();
    first?.send({ type: 'order', order });
  }

  /** Tells them to end after the current iteration. */
  stop(): void {
    const { configuration, ranks } = this.#options;
    const isAwaited = this.#ready.size < ranks.length;
    // A program may take any time to begin, and hears nothing before.
    if (!this.#begun || (isAwaited && isJoining(configuration.spec.workload))) {
      this.abort(stoppedEarly());
      return;
    }
    this.tell({ type: 'stop' });
    for (const worker of this.#workers.values()) worker.continue();
    // Who asks again does not wait anew.
    const isFirst = !this.#stopping;
    this.#stopping = true;
    if (isFirst) this.#awaitStop();
  }

  /** Tells them to end after the current iteration with a checkpoint and no result. */
  pause(): void {
    this.tell({ type: 'pause' });
  }

  /** Ends them at once, because of this error. */
  abort(error: ErrorData): void {
    this.#report({ kind: 'report', error });
  }

  /**
   * The current iteration and the closing evaluation may take any time: a stop has
   * failed only when no rank reports for as long as ranks wait for each other.
   */
  #awaitStop(): void {
    // A report of failure has its own deadline.
    if (!this.#stopping || this.#failing || !this.#reports.isEmpty) return;
    const { patienceSeconds } = this.#options;
    this.#deadline(patienceSeconds * 1000, () =>
      failure(
        'STOP_TIMEOUT',
        `after the request to stop, the ranks reported nothing for ${patienceSeconds} s`,
        {
          next:
            'They were killed; records up to then are stored. If they are only slow, raise ' +
            'patienceSeconds.',
        },
      ),
    );
  }

  #send(message: ToWorker): void {
    for (const worker of this.#workers.values()) worker.send(message);
  }

  readonly #notice = (notice: Notice): void => {
    this.#listener.notice({ type: 'notice', at: Date.now(), ...notice });
  };

  #receive(rank: number, event: WorkerEvent): void {
    this.#suspension.heard(rank);
    this.#silence?.heard(rank);
    switch (event.type) {
      case 'listening':
        if (!this.#addresses.has(rank)) this.#limit.heard();
        this.#addresses.set(rank, event.address);
        this.#awaitStart();
        if (this.#addresses.size === this.#options.ranks.length) {
          this.#prepared.resolve(this.#addresses);
        }
        return;
      case 'ready':
        if (this.#ready.has(rank)) return;
        this.#ready.set(rank, event);
        if (this.#ready.size === this.#options.ranks.length) this.#started();
        return;
      case 'records':
        this.#listener.records(rank, event.records);
        this.#awaitStop();
        return;
      case 'checkpoint':
        this.#listener.checkpoint(rank, event);
        return;
      case 'finished':
        this.#leaving.add(rank);
        this.#awaitStop();
        return;
      case 'failed':
        this.#leaving.add(rank);
        this.abort(admitError(rank, event.error));
        return;
      case 'broken':
        this.abort({ ...event.error, rank });
        // One that was never started does not exit.
        this.#endIfGone();
        return;
      case 'exit':
        this.#exited(rank, event);
        return;
      default:
        event satisfies never;
    }
  }

  #started(): void {
    this.#listener.started(
      teamStart(this.#ready, this.#workers, (rank) => this.#nodeOf(rank, 'name')),
    );
    if (this.#options.placement === undefined) return;
    this.#silence = new SilenceWatch({
      ranks: this.#options.ranks,
      nodeOf: (rank) => this.#nodeOf(rank),
      told: this.#notice,
    });
  }

  #awaitStart(): void {
    if (this.#begun || !this.#reports.isEmpty) return;
    this.#deadline(this.#limit.leftMs, () => this.#notBegun());
  }

  #notBegun(): GradwireError {
    const { placement, ranks } = this.#options;
    const rank = ranks.find((one) => !this.#addresses.has(one));
    if (rank === undefined && placement === undefined) return neverBegun();
    return notStarted(rank ?? 0, this.#nodeOf(rank ?? 0), this.#limit.seconds);
  }

  #processesHere(): ReadonlyMap<number, number> {
    const here = new Map<number, number>();
    for (const { rank, pidHere } of this.#workers.values()) {
      if (pidHere !== undefined) here.set(rank, pidHere);
    }
    return here;
  }

  #nodeOf(rank: number, as: 'name' | 'title' = 'title'): string {
    const { node, placement } = this.#options;
    return placement?.nodeOf(rank) ?? node[as];
  }

  #exited(rank: number, exit: ProcessExit): void {
    this.#logs.get(rank)?.close();
    if (!this.#leaving.has(rank) && !this.#failing) {
      const known = this.#options.placement?.explain(rank, exit);
      if (known !== undefined) this.abort(known);
      else this.#died(rank, exit);
    }
    this.#endIfGone();
  }

  #died(rank: number, exit: ProcessExit): void {
    const isHere = this.#options.placement === undefined;
    const error = deathOf(rank, exit, { isHere, node: this.#nodeOf(rank) });
    this.#report({ kind: 'death', error });
  }

  #report(report: FailureReport): void {
    if (this.#ended) return;
    // From the first on, nothing else is awaited.
    clearTimeout(this.#timer);
    this.#reports.add(report);
  }

  /** Kills them, once the cause is known or no rank has told it in time. */
  #settled(): void {
    if (this.#ended) return;
    this.#failing = true;
    const hanging = this.#hanging()?.toData();
    if (hanging !== undefined) this.abort(hanging);
    for (const worker of this.#workers.values()) {
      if (!worker.exited) worker.kill();
    }
    this.#endIfGone();
  }

  /**
   * Ranks that gave up on a hanging one may have waited for each other, so the first
   * report may blame a neighbour. Ranks that are alive but silent are the cause.
   */
  #hanging(): GradwireError | undefined {
    if (!this.#reports.areAll('PEER_TIMEOUT')) return undefined;
    const silent = [...this.#workers.values()]
      .filter(({ rank, exited }) => !exited && !this.#leaving.has(rank))
      .map(({ rank }) => rank);
    if (silent.length === 0 || silent.length === this.#workers.size) return undefined;
    return silenceOf(silent, this.#options.node.title);
  }

  /** Sets a deadline, at which the team fails with this error. */
  #deadline(ms: number, reason: () => GradwireError): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.abort(reason().toData());
    }, ms);
  }

  #endIfGone(): void {
    if (this.#ended) return;
    if (![...this.#workers.values()].every((worker) => worker.exited)) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#reports.settle();
    this.#suspension.close();
    this.#silence?.close();
    const error = this.#reports.cause;
    this.#prepared.reject(failure('RUN_ENDED', 'the run ended', error));
    this.#listener.ended(error);
  }
}
