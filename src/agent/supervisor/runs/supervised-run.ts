/**
 * A run on this node: its ranks, its journal and its followers. States move forward:
 * preparing → running → ended. If the spec says so, a run that loses something it needs is
 * interrupted instead of ended, and resumes from a checkpoint. However it ends, all its
 * processes are gone before its last record is journalled. If Slurm allocates the nodes, the
 * run waits for them first, and again when it has lost them and resumes.
 */
import { requireEngines } from '../../training/program-workload.ts';
import { randomBytes } from 'node:crypto';
import { emulatedNetwork } from '../../../shared/machines/emulated-network.ts';
import {
  failure,
  inputError,
  toErrorData,
  type ErrorData,
} from '../../../shared/errors/errors.ts';
import type { PlanSwitch } from '../../../shared/plan/exchange-plan.ts';
import type {
  AnswerTo,
  AskedType,
  OrderOf,
  RankOrder,
  RunOrder,
} from '../../../shared/orders/orders.ts';
import type {
  RankAddress,
  RunPhase,
  RunStatus as SupervisedRunState,
  SwitchRequest,
} from '../../../shared/protocol/supervisor.ts';
import type { DoneRecord } from '../../../shared/records/done.ts';
import {
  endsJournal,
  type JournalEntry,
} from '../../../shared/records/journal-entry.ts';
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import { isRestartable } from './restartable.ts';
import { severalNodes } from '../../../shared/spec/slurm-share.ts';
import { SlurmAllocation } from '../../slurm/allocation.ts';
import { DurableFeed } from '../journal/durable-feed.ts';
import type { Journal } from '../journal/journal.ts';
import { PlannedSwitches } from './planned-switches.ts';
import { rankResources, specOn } from '../ranks/rank-resources.ts';
import { RankTeam, type TeamStart } from '../ranks/rank-team.ts';
import { RecordAdmission } from '../journal/record-admission.ts';
import { Restarts } from '../ranks/restarts.ts';
import { RunCheckpoints } from './run-checkpoints.ts';
import {
  dataNotice,
  memoryNotice,
  restartsExhausted,
  runEnded,
  stoppedEarly,
  stoppedInterrupted,
} from '../ranks/run-errors.ts';
import type {
  RankSetting,
  RestoredProgress,
  RunListener,
  RunOptions,
} from './run-options.ts';

type OrderAct<T extends AskedType> = (
  order: OrderOf<T>,
) => AnswerTo<T> | Promise<AnswerTo<T>>;

export class SupervisedRun {
  readonly #options: RunOptions;
  readonly #listeners = new Set<RunListener>();
  readonly #feed: DurableFeed;
  readonly #admission: RecordAdmission;
  readonly #checkpoints: RunCheckpoints;
  readonly #createdAt: number;
  readonly #ended = Promise.withResolvers<ErrorData | undefined>();
  readonly #switches: PlannedSwitches;
  readonly #restarts: Restarts;
  /** The nodes, if Slurm allocates them. */
  readonly #allocation: SlurmAllocation | undefined;
  /** Reason that the ranks were asked to end. */
  #ending: ErrorData | undefined;
  #setting: RankSetting;
  #team: RankTeam | undefined;
  /** The iteration from which the current ranks resumed. */
  #resumed: number | undefined;
  #phase: RunPhase = 'preparing';
  #done: DoneRecord | undefined;
  #finished = false;
  #stopping = false;
  /** Orders about which something is to be done here. */
  readonly #actions: { readonly [T in AskedType]?: OrderAct<T> } = {
    switch: (order) => ({ switch: this.#switch(order) }),
    stop: async () => {
      await this.stop();
      return {};
    },
  };

  constructor(options: RunOptions) {
    const { checkpoints, node, ranks, restored } = options;
    this.#options = options;
    this.#feed = this.#openFeed();
    this.#setting = options;
    this.#switches = new PlannedSwitches(options);
    this.#checkpoints = new RunCheckpoints(checkpoints, ranks, node);
    this.#admission = restored?.admission ?? new RecordAdmission();
    this.#createdAt = restored?.createdAt ?? Date.now();
    this.#restarts = new Restarts(() => {
      this.#restartHere();
    });
    this.#allocation = this.#openAllocation();
    if (restored !== undefined) this.#restore(restored);
    else if (this.#allocation === undefined) this.#team = this.#start();
    else this.#allocation.ask();
  }

  get state(): SupervisedRunState {
    return {
      run: this.#options.run,
      phase: this.#phase,
      spec: this.#options.spec,
      lastSequence: this.#options.journal.lastSequence,
      createdAt: this.#createdAt,
      ranks: this.#options.ranks,
      switches: this.#switches.later,
      ...(this.#phase === 'ended' ? { ending: this.#options.journal.ending } : {}),
      ...(this.#phase === 'interrupted'
        ? { resumable: this.#resumable, schedule: this.#switches.passedAt }
        : {}),
    };
  }

  get journal(): Journal {
    return this.#options.journal;
  }

  /** Whether it needs this process: it runs, or will run by itself. */
  get isLive(): boolean {
    if (this.#phase === 'interrupted')
      return this.#isAllHere || this.#team !== undefined;
    return this.#phase !== 'ended';
  }

  /** Whether it waits for its nodes and starts by itself. */
  get beginsByItself(): boolean {
    return this.#allocation !== undefined;
  }

  /** Resolves when its nodes are requested. @throws (rejects) why that failed */
  get queued(): Promise<unknown> {
    return this.#allocation?.asked ?? Promise.resolve();
  }

  /** Resolves when all ranks listen. @throws (rejects) the first failure */
  get prepared(): Promise<ReadonlyMap<number, RankAddress>> {
    return this.#team?.prepared ?? Promise.reject(runEnded());
  }

  /** Resolves when the run has ended, with the error it ended with, if any. */
  get ended(): Promise<ErrorData | undefined> {
    return this.#ended.promise;
  }

  begin(addresses: readonly RankAddress[]): void {
    const waits = this.#phase === 'preparing' || this.#phase === 'interrupted';
    if (!waits || this.#team === undefined) {
      throw failure('RUN_STATE', `the run is ${this.#phase}, not preparing`);
    }
    if (this.#phase === 'preparing') this.#phase = 'running';
    this.#team.begin(addresses);
    this.#changed();
  }

  /**
   * Starts ranks that resume from an iteration with a checkpoint on every node.
   * @param switches all switches of the run; those that have taken effect have their
   * fences
   * @throws GradwireError `RUN_STATE`: it is not interrupted
   */
  resume(
    iteration: number,
    switches: readonly PlanSwitch[],
    setting: RankSetting,
  ): void {
    if (this.#phase !== 'interrupted' || this.#team !== undefined || this.#stopping) {
      throw failure('RUN_STATE', `the run is ${this.#phase}, not interrupted`);
    }
    this.#setting = setting;
    this.#switches.adopt(switches);
    this.#admission.restart(iteration);
    this.#team = this.#start({ iteration, switches });
  }

  /**
   * Obeys an order.
   * @throws GradwireError `RUN_ENDED`, `RUN_STATE`, and why the order is invalid
   */
  async order<T extends AskedType>(order: OrderOf<T>): Promise<AnswerTo<T>> {
    const act = this.#actions[order.type] as OrderAct<T> | undefined;
    return (await (act?.(order) ?? this.#passOn(order))) as AnswerTo<T>;
  }

  /** Tells the ranks an order about which nothing is to be done here. */
  #passOn(order: RunOrder): object {
    this.#assertUnderWay('takes no more orders');
    requireEngines(this.#options.spec, order.type);
    if (this.#team === undefined) {
      throw failure('RUN_STATE', `the run is ${this.#phase}, so no rank takes orders`, {
        next: 'Try again when it goes on.',
      });
    }
    this.#team.tell(order as RankOrder);
    return {};
  }

  /** Validates a switch, gives it its epoch and sends it to every rank. */
  #switch(request: SwitchRequest): PlanSwitch {
    this.#assertUnderWay('cannot be switched');
    const planned = this.#switches.plan(request);
    this.#announce([planned]);
    return planned;
  }

  /** @throws GradwireError `RUN_ENDED` */
  #assertUnderWay(consequence: string): void {
    const { failing = false } = this.#team ?? {};
    if (this.#phase !== 'ended' && !failing && this.#done === undefined) return;
    throw inputError('RUN_ENDED', `the run has ended, so it ${consequence}`, {
      next: 'Launch it again.',
    });
  }

  /** Adopts another node's switches: the ranks here need them for the same fence. */
  adopt(switches: readonly PlanSwitch[]): void {
    if (this.#phase !== 'ended') this.#announce(this.#switches.adopt(switches));
  }

  #announce(switches: readonly PlanSwitch[]): void {
    if (switches.length === 0) return;
    this.#options.switched?.(this.#switches.later);
    for (const planned of switches) {
      this.#team?.tell({ type: 'switch', switch: planned });
    }
  }

  /** Ends after the current iteration. Resolves when the run has ended. */
  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.#phase === 'interrupted') this.abort(stoppedInterrupted());
    else if (this.#waitsForNodes) this.abort(stoppedEarly());
    else this.#team?.stop();
    await this.ended;
  }

  /** Ends at once, because of this error. */
  abort(error: ErrorData): void {
    if (this.#team !== undefined) this.#team.abort(error);
    else if (this.#waitsForNodes || !isRestartable(error)) this.#end(error);
  }

  /**
   * Ends its processes, because this one ends; a run that may continue later is interrupted.
   * Resolves when they are gone, their nodes are released, and the journal records it.
   */
  async leave(error: ErrorData): Promise<void> {
    this.#restarts.close();
    const isSettled = (): boolean =>
      this.#phase === 'ended' ||
      (this.#phase === 'interrupted' && this.#team === undefined);
    if (!isSettled()) {
      const settled = new Promise<unknown>((resolve) => {
        const changed = (): void => {
          if (isSettled()) resolve(null);
        };
        this.follow({ entries: () => undefined, changed });
      });
      this.abort(error);
      await settled;
      // An interruption with another cause might otherwise let it continue.
      this.#restarts.close();
    }
    this.#allocation?.release();
  }

  follow(listener: RunListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #start(from?: {
    readonly iteration: number;
    readonly switches: readonly PlanSwitch[];
  }): RankTeam {
    const { run, plan, ranks, node } = this.#options;
    const { secret, listen, ports, network, places } = this.#setting;
    const placement = this.#allocation?.placement;
    const spec = specOn(placement, this.#options.spec);
    const cores = placement?.coresPerRank ?? this.#options.coresPerRank;
    const resources = rankResources(spec, cores);
    this.#resumed = from?.iteration;
    return new RankTeam(
      {
        ranks,
        node,
        patienceSeconds: spec.patienceSeconds,
        placement,
        configuration: {
          run,
          spec,
          plan,
          secret,
          listen,
          ports,
          network,
          ...resources,
          places: placement?.places ?? places,
          switches: from?.switches ?? this.#options.switches,
          checkpoints: this.#checkpoints.directory,
          resume: from?.iteration,
        },
      },
      {
        started: (started) => {
          this.#started(started);
        },
        records: (rank, records) => {
          this.#admit(rank, records);
        },
        checkpoint: (rank, written) => {
          const record = this.#checkpoints.add(rank, written);
          if (record === undefined) return;
          this.#restarts.progressed();
          this.#store([record]);
        },
        printed: (lines) => {
          this.#journalLog(lines);
        },
        notice: (notice) => {
          this.#store([notice]);
        },
        underWay: (rank) => this.#admission.underWay(rank),
        ended: (error) => {
          this.#teamEnded(error);
        },
      },
    );
  }

  #started({ processes, ...team }: TeamStart): void {
    const { iterationsPerPass, memoryWarning, node, notice, plan, spec } =
      this.#options;
    const at = Date.now();
    if (this.#resumed !== undefined) {
      this.#phase = 'running';
      const iteration = this.#resumed;
      this.#store([{ type: 'restarted', at, node, iteration, processes }]);
      this.#changed();
      return;
    }
    const { network } = spec;
    this.#store([
      {
        type: 'started',
        at,
        ranks: spec.world.ranks,
        ...team,
        ...(iterationsPerPass === undefined ? {} : { iterationsPerPass }),
        plan: { ...plan },
        processes,
        ...(network === undefined ? {} : { emulated: emulatedNetwork(network) }),
      },
      ...(notice === undefined ? [] : [dataNotice(notice)]),
      ...(memoryWarning === undefined ? [] : [memoryNotice(memoryWarning)]),
    ]);
  }

  /** The first record that is not valid ends the run; those before it are kept. */
  #admit(rank: number, records: readonly unknown[]): void {
    // Not recorded and so not admitted, because resuming ranks report it again.
    if (this.#team?.failing === true) return;
    const admitted: RunRecord[] = [];
    let refusal: ErrorData | undefined;
    try {
      for (const raw of records) {
        const record = this.#admission.admit(rank, raw);
        if (record !== undefined) admitted.push(record);
      }
    } catch (error) {
      refusal = toErrorData(error);
    }
    this.#store(admitted);
    if (refusal !== undefined) this.#team?.abort(refusal);
  }

  #store(records: readonly RunRecord[]): void {
    if (this.#phase === 'ended') return;
    // The run ends when all of its processes have ended; its last record waits for
    // them.
    const done = records.find((record) => record.type === 'done');
    if (done !== undefined) this.#done = done;
    for (const record of records) {
      if (record.type === 'iteration') this.#switches.reached(record.iteration);
      if (record.type === 'switch') this.#switches.passed(record.epoch, record.fence);
    }
    const rest = records.filter((record) => !endsJournal(record));
    if (rest.length === 0 || this.#team?.failing === true) return;
    try {
      this.#feed.push(this.#options.journal.append(rest));
    } catch (error) {
      this.#team?.abort(toErrorData(error));
    }
  }

  /** Journals printed lines, also while the run is failing: a rank's report may give the reason. */
  #journalLog(lines: readonly RunRecord[]): void {
    if (this.#phase === 'ended') return;
    try {
      this.#feed.push(this.#options.journal.append(lines));
    } catch (error) {
      this.#team?.abort(toErrorData(error));
    }
  }

  /** The processes are gone. */
  #teamEnded(lost: ErrorData | undefined): void {
    this.#finished = this.#team!.finished;
    this.#team = undefined;
    const error = lost ?? this.#shortfall;
    const isLoss = error !== undefined && isRestartable(error);
    if (this.#allocation === undefined || !isLoss) this.#close(error);
    else {
      // When nodes are taken away their ranks die first.
      void this.#allocation.explain(error).then((cause) => {
        this.#close(cause);
      });
    }
  }

  #close(error: ErrorData | undefined): void {
    if (error === undefined || !this.#mayRestart(error)) this.#end(error);
    else this.#interrupt(error);
  }

  /** Reason that a run whose ranks have all finished is incomplete. */
  get #shortfall(): ErrorData | undefined {
    const result = this.#result;
    const complete = result?.type === 'done' && result.reason === 'completed';
    if (this.#ending !== undefined && !complete && !this.#stopping) return this.#ending;
    if (result !== undefined) return undefined;
    return failure('RUN_INCOMPLETE', 'all ranks ended without a result').toData();
  }

  #mayRestart(error: ErrorData): boolean {
    if (this.#options.spec.onFailure !== 'restart' || this.#stopping) return false;
    // A run that never started has nothing to resume from.
    return this.#phase !== 'preparing' && isRestartable(error);
  }

  #interrupt(error: ErrorData): void {
    if (!this.#restarts.interrupted()) {
      this.#end(restartsExhausted(error));
      return;
    }
    const resumed = this.#resumed;
    if (error.code === 'CHECKPOINT_INVALID' && resumed !== undefined) {
      this.#checkpoints.discard(resumed);
    }
    this.#checkpoints.forgetUnfinished();
    this.#switches.repeat();
    this.#phase = 'interrupted';
    this.#done = undefined;
    const { node } = this.#options;
    this.#store([{ type: 'interrupted', at: Date.now(), node, error }]);
    const isOver = this.#ending !== undefined || error.code === 'SUPERVISOR_STOPPED';
    if (isOver) this.#allocation?.release();
    this.#ending = undefined;
    this.#changed();
    if (this.#isAllHere && error.code !== 'SUPERVISOR_STOPPED') this.#restarts.soon();
  }

  /**
   * Iterations from which the ranks here can resume, ascending. All iterations before must
   * be recorded: a rank may have written a checkpoint and died with its last records
   * unsent.
   */
  get #resumable(): readonly number[] {
    const recorded = this.#admission.recordedUpTo(this.#options.ranks);
    return this.#checkpoints.iterations.filter((iteration) => iteration <= recorded);
  }

  /** Ranks of other nodes must be started by a process that reaches those nodes. */
  get #isAllHere(): boolean {
    return this.#options.ranks.length === this.#options.spec.world.ranks;
  }

  #restartHere(): void {
    if (this.#phase !== 'interrupted' || this.#team !== undefined) return;
    if (this.#allocation !== undefined && this.#allocation.placement === undefined) {
      this.#allocation.ask();
      return;
    }
    const secret = randomBytes(this.#setting.secret.length);
    this.resume(this.#resumable.at(-1)!, this.#switches.passedAt, {
      ...this.#setting,
      secret,
    });
    this.#beginWhenPrepared();
  }

  /** Begins a run whose ranks are all here, once they are prepared. */
  #beginWhenPrepared(): void {
    const team = this.#team!;
    void team.prepared.then(
      (addresses) => {
        const ranks = [...addresses].toSorted(([a], [b]) => a - b);
        const { placement } = this.#allocation ?? {};
        const isSpread = new Set(placement?.places).size > 1;
        const named = ranks.map(([rank, address]) =>
          isSpread ? { ...address, node: placement!.nodeOf(rank) } : address,
        );
        if (this.#team === team) this.begin(named);
      },
      () => undefined, // The team has ended and reports why.
    );
  }

  #openFeed(): DurableFeed {
    const { journal } = this.#options;
    return new DurableFeed({
      sync: () => journal.sync(),
      pass: (entries) => {
        this.#tell(entries);
      },
      failed: (error) => {
        this.abort(toErrorData(error));
      },
    });
  }

  #openAllocation(): SlurmAllocation | undefined {
    const { run, spec, slurm: settings, folder, node } = this.#options;
    if (settings === undefined) return undefined;
    return new SlurmAllocation(
      { run, settings, folder, node, ranks: spec.world.ranks },
      {
        queued: (record) => {
          this.#store([record]);
        },
        allocated: (record) => {
          this.#store([record]);
          const { length } = record.computeNodes;
          // More nodes than requested, perhaps through the user's own options.
          if (length > 1 && spec.network !== undefined) {
            this.#nodesLost(toErrorData(severalNodes(length)));
          } else if (this.#phase === 'interrupted') this.#restartHere();
          else {
            this.#team = this.#start();
            this.#beginWhenPrepared();
          }
        },
        ending: (error) => {
          this.#endBefore(error);
        },
        lost: (error) => {
          if (this.#team !== undefined) this.#team.abort(error);
          // Otherwise this has ended its ranks, and their failure is being explained.
          else if (this.#phase !== 'running') this.#nodesLost(error);
        },
      },
    );
  }

  /** Ends a run that has lost its nodes, and so its ranks, or waits for others. */
  #nodesLost(error: ErrorData): void {
    this.#allocation?.release();
    if (this.#phase === 'ended') return;
    const again = this.#phase === 'interrupted' && isRestartable(error);
    if (again && this.#restarts.interrupted()) this.#restarts.soon();
    else this.#end(error);
  }

  /** Ends the run in time, because its nodes are about to be taken back. */
  #endBefore(error: ErrorData): void {
    if (this.#team === undefined) return;
    this.#ending = error;
    const how = this.#options.spec.onFailure === 'restart' ? 'pause' : 'stop';
    if (this.#team.begun) this.#team[how]();
    else this.#team.abort(error);
  }

  get #waitsForNodes(): boolean {
    return (
      this.#allocation !== undefined &&
      this.#phase === 'preparing' &&
      this.#team === undefined
    );
  }

  #restore(progress: RestoredProgress): void {
    this.#phase = 'interrupted';
    this.#switches.adopt(progress.later);
    this.#switches.reached(progress.iterations - 1);
    for (const [epoch, fence] of progress.fences) this.#switches.passed(epoch, fence);
    if (!progress.interrupted) this.#interrupt(progress.error);
    else if (this.#isAllHere) this.#restarts.soon();
  }

  #end(error: ErrorData | undefined): void {
    if (this.#phase === 'ended') return;
    this.#restarts.close();
    this.#allocation?.release();
    const last: RunRecord =
      error === undefined ? this.#result! : { type: 'failed', at: Date.now(), error };
    this.#phase = 'ended';
    try {
      this.#feed.push(this.#options.journal.append([last]));
      this.#options.journal.close();
      this.#feed.flush();
    } catch (cause) {
      const unwritten: RunRecord =
        error === undefined
          ? { type: 'failed', at: Date.now(), error: toErrorData(cause) }
          : last;
      this.#feed.push([this.#options.journal.appendUnwritten(unwritten)]);
      this.#feed.flush();
    }
    this.#ended.resolve(error);
    this.#changed();
  }

  /**
   * The last record of this node: the run's result if rank 0 is here, otherwise that all ranks have
   * finished.
   */
  get #result(): RunRecord | undefined {
    const { node, ranks } = this.#options;
    if (ranks.includes(0)) return this.#done;
    if (!this.#finished) return undefined;
    return { type: 'finished', at: Date.now(), node };
  }

  #tell(entries: readonly JournalEntry[]): void {
    for (const listener of this.#listeners) listener.entries(entries);
  }

  /** Tells listeners of a change, after the records that say so. */
  #changed(): void {
    this.#feed.after(() => {
      for (const listener of this.#listeners) listener.changed();
    });
  }
}
