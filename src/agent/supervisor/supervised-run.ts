/**
 * A run on this node: its workers, its journal and whoever follows it. States only move
 * forward: preparing → running → ended. However it ends, all its workers are gone before
 * its last record is journalled.
 */
import { emulatedNetwork } from '../../shared/emulated-network.ts';
import {
  failure,
  inputError,
  toErrorData,
  type ErrorData,
} from '../../shared/errors.ts';
import type { NetworkCost } from '../../shared/cost-model/network-cost.ts';
import type { ExchangePlan, PlanSwitch } from '../../shared/exchange-plan.ts';
import type { ExperimentSpec } from '../../shared/experiment-spec.ts';
import type {
  RankAddress,
  RunPhase,
  SupervisedRun as SupervisedRunState,
  SwitchRequest,
} from '../../shared/protocol/supervisor.ts';
import {
  endsJournal,
  type DoneRecord,
  type JournalEntry,
  type RunRecord,
} from '../../shared/records.ts';
import type { PlanSetting } from '../plan/resolve-plan.ts';
import type { Journal } from './journal.ts';
import { PlannedSwitches } from './planned-switches.ts';
import { PrintedLog } from './printed-log.ts';
import { deathOf, silenceOf } from './rank-failures.ts';
import { admitError, RecordAdmission } from './record-admission.ts';
import {
  rootCause,
  isConsequence,
  type FailureReport,
} from '../../shared/root-cause.ts';
import {
  RankProcess,
  type ProcessBroken,
  type ProcessExit,
} from '../world/rank-process.ts';
import { bundledFile } from '../bundle/bundled-file.ts';
import type { FromWorker, ToWorker } from '../../shared/protocol/worker.ts';

type WorkerEvent = FromWorker | ProcessExit | ProcessBroken;
type WorkerProcess = RankProcess<ToWorker, FromWorker>;

const WORKER = { bundle: 'worker.js', source: '../worker/main.ts' };

export interface RunOptions {
  readonly run: string;
  readonly spec: ExperimentSpec;
  readonly plan: ExchangePlan;
  /** What switches are resolved for. */
  readonly setting: PlanSetting;
  readonly switches: readonly PlanSwitch[];
  readonly ranks: readonly number[];
  readonly secret: Uint8Array;
  /** Told at the start of the run. */
  readonly notice?: string | undefined;
  readonly journal: Journal;
  readonly threads: number;
  readonly engine: 'thread' | 'inline';
  readonly network?: NetworkCost | undefined;
  /** The node of each rank of the run; default: all are on one. */
  readonly places?: readonly number[] | undefined;
  /** This node's name in records. */
  readonly node: string;
  /** Address where the ranks listen. */
  readonly listen: string;
}

export interface RunListener {
  entries(entries: readonly JournalEntry[]): void;
  changed(): void;
}

/** How long to wait for the report that explains the loss of a peer. */
const EXPLANATION_MS = 400;
const PREPARE_MS = 60_000;

export class SupervisedRun {
  readonly #options: RunOptions;
  readonly #workers = new Map<number, WorkerProcess>();
  readonly #logs = new Map<number, PrintedLog>();
  readonly #listeners = new Set<RunListener>();
  readonly #addresses = new Map<number, RankAddress>();
  readonly #ready = new Map<number, { backend: string; parameters: number }>();
  /** Ranks whose exit is expected: they have finished, or have said why they cannot. */
  readonly #leaving = new Set<number>();
  readonly #admission = new RecordAdmission();
  readonly #reports: FailureReport[] = [];
  readonly #createdAt = Date.now();
  readonly #prepared = Promise.withResolvers<ReadonlyMap<number, RankAddress>>();
  readonly #ended = Promise.withResolvers<ErrorData | undefined>();
  #timer: NodeJS.Timeout | undefined;
  #phase: RunPhase = 'preparing';
  readonly #switches: PlannedSwitches;
  #done: DoneRecord | undefined;
  #failing = false;
  #stopping = false;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#switches = new PlannedSwitches(options);
    this.#prepared.promise.catch(() => undefined);
    this.#deadline(PREPARE_MS, () =>
      failure('RUN_NOT_BEGUN', 'the run was prepared but never begun', {
        next: 'Launch it again.',
      }),
    );
    const entry = bundledFile(WORKER, import.meta.dirname);
    for (const rank of options.ranks) {
      const command = { entry, args: [options.run, String(rank)] };
      const log = new PrintedLog(rank, {
        iteration: () => this.#admission.underWay(rank),
        write: (lines) => {
          this.#journalLog(lines);
        },
      });
      this.#logs.set(rank, log);
      const worker: WorkerProcess = new RankProcess(
        rank,
        command,
        (event) => {
          this.#receive(rank, event);
        },
        log.take,
      );
      this.#workers.set(rank, worker);
      worker.send({
        type: 'configure',
        run: options.run,
        rank,
        spec: options.spec,
        plan: options.plan,
        switches: options.switches,
        secret: options.secret,
        listen: options.listen,
        threads: options.threads,
        engine: options.engine,
        network: options.network,
        places: options.places,
      });
    }
  }

  get state(): SupervisedRunState {
    return {
      run: this.#options.run,
      phase: this.#phase,
      spec: this.#options.spec,
      lastSequence: this.#options.journal.lastSequence,
      createdAt: this.#createdAt,
      switches: this.#switches.later,
    };
  }

  get journal(): Journal {
    return this.#options.journal;
  }

  /** All ranks listen. @throws (rejects) what went wrong first */
  get prepared(): Promise<ReadonlyMap<number, RankAddress>> {
    return this.#prepared.promise;
  }

  /** Resolves when the run has ended, with the error it ended with, if any. */
  get ended(): Promise<ErrorData | undefined> {
    return this.#ended.promise;
  }

  begin(addresses: readonly RankAddress[]): void {
    if (this.#phase !== 'preparing') {
      throw failure('RUN_STATE', `the run is ${this.#phase}, not preparing`);
    }
    clearTimeout(this.#timer);
    this.#phase = 'running';
    for (const worker of this.#workers.values()) {
      worker.send({ type: 'begin', addresses });
    }
    this.#changed();
  }

  /** Validate a switch, give it its epoch and tell every rank. */
  switch(request: SwitchRequest): PlanSwitch {
    if (this.#phase === 'ended' || this.#failing || this.#done !== undefined) {
      throw inputError('RUN_ENDED', 'the run has ended: there is nothing to switch', {
        next: 'Launch it again.',
      });
    }
    const planned = this.#switches.plan(request);
    this.#announce(planned);
    return planned;
  }

  /** Switches that another node has planned: the ranks here need them for the same fence. */
  adopt(switches: readonly PlanSwitch[]): void {
    if (this.#phase === 'ended') return;
    for (const planned of this.#switches.adopt(switches)) this.#announce(planned);
  }

  #announce(planned: PlanSwitch): void {
    for (const worker of this.#workers.values()) {
      worker.send({ type: 'switch', switch: planned });
    }
  }

  /** End after the current iteration. Resolves when the run has ended. */
  async stop(): Promise<void> {
    if (this.#phase === 'preparing') {
      this.#report({
        kind: 'report',
        error: failure('RUN_STOPPED', 'the run was stopped before it began').toData(),
      });
    } else if (this.#phase === 'running') {
      for (const worker of this.#workers.values()) worker.send({ type: 'stop' });
      this.#stopping = true;
      this.#awaitStop();
    }
    await this.ended;
  }

  /**
   * The iteration under way and the closing evaluation take what they take: a stop has
   * failed when no rank reports for as long as ranks wait for one another.
   */
  #awaitStop(): void {
    // A report of failure has a deadline of its own.
    if (!this.#stopping || this.#failing || this.#reports.length > 0) return;
    const { patienceSeconds } = this.#options.spec;
    this.#deadline(patienceSeconds * 1000, () =>
      failure(
        'STOP_TIMEOUT',
        `asked to stop, the ranks reported nothing for ${patienceSeconds} s`,
        {
          next:
            'They were killed; what was recorded until then is stored. If they are only ' +
            'slow, raise patienceSeconds.',
        },
      ),
    );
  }

  /** End at once, because of this error. */
  abort(error: ErrorData): void {
    this.#report({ kind: 'report', error });
  }

  follow(listener: RunListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #receive(rank: number, event: WorkerEvent): void {
    switch (event.type) {
      case 'listening':
        this.#addresses.set(rank, event.address);
        if (this.#addresses.size === this.#options.ranks.length) {
          this.#prepared.resolve(this.#addresses);
        }
        return;
      case 'ready':
        this.#ready.set(rank, event);
        if (this.#ready.size === this.#options.ranks.length) this.#started();
        return;
      case 'records':
        this.#admit(rank, event.records);
        this.#awaitStop();
        return;
      case 'finished':
        this.#leaving.add(rank);
        this.#awaitStop();
        return;
      case 'failed':
        this.#leaving.add(rank);
        this.#report({ kind: 'report', error: admitError(rank, event.error) });
        return;
      case 'broken':
        this.#report({ kind: 'report', error: { ...event.error, rank } });
        return;
      case 'exit':
        this.#exited(rank, event);
        return;
      default:
        event satisfies never;
    }
  }

  #started(): void {
    const [first] = this.#ready.values();
    const { network } = this.#options.spec;
    this.#store([
      {
        type: 'started',
        at: Date.now(),
        ranks: this.#options.spec.world.ranks,
        backend: first!.backend,
        parameters: first!.parameters,
        plan: { ...this.#options.plan },
        ...(network === undefined ? {} : { emulated: emulatedNetwork(network) }),
        processes: [...this.#workers.values()].map(({ rank, pid }) => ({
          rank,
          pid,
          node: this.#options.node,
        })),
      },
      ...(this.#options.notice === undefined ? [] : [dataNotice(this.#options.notice)]),
    ]);
  }

  /** The first record that is not valid ends the run; those before it are kept. */
  #admit(rank: number, records: readonly unknown[]): void {
    const admitted: RunRecord[] = [];
    let refusal: ErrorData | undefined;
    try {
      for (const raw of records) admitted.push(this.#admission.admit(rank, raw));
    } catch (error) {
      refusal = toErrorData(error);
    }
    this.#store(admitted);
    if (refusal !== undefined) this.#report({ kind: 'report', error: refusal });
  }

  #store(records: readonly RunRecord[]): void {
    if (this.#phase === 'ended') return;
    // The run is done when all of its processes are: its last record waits for them.
    const done = records.find((record) => record.type === 'done');
    if (done !== undefined) this.#done = done;
    for (const record of records) {
      if (record.type === 'iteration') this.#switches.reached(record.iteration);
      if (record.type === 'switch') this.#switches.passed(record.epoch, record.fence);
    }
    const rest = records.filter((record) => !endsJournal(record));
    if (rest.length === 0 || this.#failing) return;
    try {
      this.#tell(this.#options.journal.append(rest));
    } catch (error) {
      this.#report({ kind: 'report', error: toErrorData(error) });
    }
  }

  /** Also while the run is failing: what a rank says then may be why. */
  #journalLog(lines: readonly RunRecord[]): void {
    if (this.#phase === 'ended') return;
    try {
      this.#tell(this.#options.journal.append(lines));
    } catch (error) {
      this.#report({ kind: 'report', error: toErrorData(error) });
    }
  }

  #exited(rank: number, exit: ProcessExit): void {
    this.#logs.get(rank)?.close();
    if (!this.#leaving.has(rank) && !this.#failing) {
      this.#report({ kind: 'death', error: deathOf(rank, exit, this.#options.node) });
    }
    if ([...this.#workers.values()].every((worker) => worker.exited)) this.#end();
  }

  #report(report: FailureReport): void {
    if (this.#phase === 'ended') return;
    this.#reports.push(report);
    if (this.#failing) return;
    if (!isConsequence(report)) this.#kill();
    else if (this.#reports.length === 1) {
      // Give the rank that caused it a moment to say why.
      this.#deadline(EXPLANATION_MS, () => this.#silence());
    }
  }

  /**
   * When ranks gave up on one that hangs they may have waited for one another: the first
   * report blames a neighbour. Those that live and have not said a word are the cause.
   */
  #silence(): ReturnType<typeof failure> | undefined {
    if (this.#reports.some(({ error }) => error.code !== 'PEER_TIMEOUT')) return;
    const silent = [...this.#workers.values()]
      .filter(({ rank, exited }) => !exited && !this.#leaving.has(rank))
      .map(({ rank }) => rank);
    if (silent.length === 0 || silent.length === this.#workers.size) return undefined;
    return silenceOf(silent, this.#options.node);
  }

  /** A timer of the run; when it fires the run fails with this error, if any. */
  #deadline(ms: number, reason: () => ReturnType<typeof failure> | undefined): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const error = reason()?.toData();
      if (error !== undefined) this.#reports.push({ kind: 'report', error });
      this.#kill();
    }, ms);
  }

  #kill(): void {
    this.#failing = true;
    for (const worker of this.#workers.values()) {
      if (!worker.exited) worker.kill();
    }
    if ([...this.#workers.values()].every((worker) => worker.exited)) this.#end();
  }

  #end(): void {
    if (this.#phase === 'ended') return;
    clearTimeout(this.#timer);
    const error =
      rootCause(this.#reports) ??
      (this.#result === undefined
        ? failure('RUN_INCOMPLETE', 'all ranks ended without a result').toData()
        : undefined);
    const last: RunRecord =
      error === undefined ? this.#result! : { type: 'failed', at: Date.now(), error };
    this.#phase = 'ended';
    this.#prepared.reject(failure('RUN_ENDED', 'the run ended', error));
    try {
      this.#tell(this.#options.journal.append([last]));
      this.#options.journal.close();
    } catch (cause) {
      const unwritten: RunRecord =
        error === undefined
          ? { type: 'failed', at: Date.now(), error: toErrorData(cause) }
          : last;
      this.#tell([this.#options.journal.appendUnwritten(unwritten)]);
    }
    this.#ended.resolve(error);
    this.#changed();
  }

  /** Of this node: the run's where rank 0 is here, else that all ranks have finished. */
  get #result(): RunRecord | undefined {
    if (this.#options.ranks.includes(0)) return this.#done;
    const { node, ranks } = this.#options;
    if (this.#leaving.size < ranks.length) return undefined;
    return { type: 'finished', at: Date.now(), node };
  }

  #tell(entries: readonly JournalEntry[]): void {
    for (const listener of this.#listeners) listener.entries(entries);
  }

  #changed(): void {
    for (const listener of this.#listeners) listener.changed();
  }
}

function dataNotice(message: string): RunRecord {
  return { type: 'notice', at: Date.now(), level: 'info', code: 'DATA', message };
}
