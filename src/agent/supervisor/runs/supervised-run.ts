/**
 * A run on this node: its ranks, its journal and its followers (the states: `run-life.ts`). If
 * the spec says so, a run that loses something it needs is interrupted instead of ended, and
 * resumes from a checkpoint. However it ends, all its processes are gone before its last record
 * is journalled. If Slurm allocates the nodes, the run waits for them first, and again when it
 * has lost them and resumes.
 */
import { randomBytes } from 'node:crypto';
import { failure, type ErrorData } from '../../../shared/errors/errors.ts';
import type { PlanSwitch } from '../../../shared/plan/exchange-plan.ts';
import type {
  RankAddress,
  RunStatus as SupervisedRunState,
} from '../../../shared/protocol/supervisor.ts';
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import type { SlurmAllocation } from '../../slurm/allocation.ts';
import type { Journal } from '../journal/journal.ts';
import { RecordAdmission } from '../journal/record-admission.ts';
import { RankTeam } from '../ranks/rank-team.ts';
import type { TeamStart } from '../ranks/team-start.ts';
import { Restarts } from '../ranks/restarts.ts';
import {
  restartsExhausted,
  runEnded,
  stoppedEarly,
  stoppedInterrupted,
  stoppedNow,
} from '../ranks/run-errors.ts';
import { PlannedSwitches } from './planned-switches.ts';
import { isRestartable } from './restartable.ts';
import { RunCheckpoints } from './run-checkpoints.ts';
import { RunJournal } from './run-journal.ts';
import { firstState, RunLife } from './run-life.ts';
import { RunModel } from './run-model.ts';
import { openAllocation } from './run-nodes.ts';
import type {
  RankSetting,
  RestoredProgress,
  RunListener,
  RunOptions,
} from './run-options.ts';
import { RunOrders } from './run-orders.ts';
import { RunOutcome } from './run-outcome.ts';
import type { RunParts } from './run-parts.ts';
import { namedAddresses, teamOptions, type Resumption } from './team-options.ts';
import { UntoldSteps } from './untold-steps.ts';

export class SupervisedRun {
  /** Orders to it from elsewhere. */
  readonly orders: RunOrders;
  readonly #options: RunOptions;
  readonly #life: RunLife;
  readonly #outcome: RunOutcome;
  readonly #journal: RunJournal;
  readonly #admission: RecordAdmission;
  readonly #checkpoints: RunCheckpoints;
  readonly #createdAt: number;
  readonly #ended = Promise.withResolvers<ErrorData | undefined>();
  readonly #switches: PlannedSwitches;
  readonly #restarts: Restarts;
  /** The nodes, if Slurm allocates them. */
  readonly #allocation: SlurmAllocation | undefined;
  #setting: RankSetting;
  #team: RankTeam | undefined;
  /** The error of ranks that are gone, while Slurm is asked for its cause. */
  #loss: ErrorData | undefined;
  /** The iteration from which the current ranks resumed. */
  #resumed: number | undefined;

  constructor(options: RunOptions) {
    const { checkpoints, node, ranks, restored } = options;
    this.#options = options;
    this.#outcome = new RunOutcome(node, ranks);
    this.#setting = options;
    this.#switches = new PlannedSwitches(options);
    this.#checkpoints = new RunCheckpoints(checkpoints, ranks, node);
    this.#admission = restored?.admission ?? new RecordAdmission();
    this.#createdAt = restored?.createdAt ?? Date.now();
    this.#restarts = new Restarts(() => {
      this.#restartHere();
    });
    this.#life = new RunLife(firstState(options));
    const parts: RunParts = {
      options,
      life: this.#life,
      outcome: this.#outcome,
      admission: this.#admission,
      switches: this.#switches,
      model: new RunModel(options),
      untold: new UntoldSteps(),
      team: () => this.#team,
    };
    this.#journal = new RunJournal(parts, {
      begun: this.#createdAt,
      goBack: (way) => this.orders.goBack(way),
      failed: (error) => {
        this.abort(error);
      },
    });
    this.orders = new RunOrders(parts, (now) => this.stop(now));
    this.#allocation = openAllocation(parts, {
      store: (record) => {
        this.#journal.store([record]);
      },
      start: () => {
        this.#startOnNodes();
      },
      lost: (error) => {
        this.#nodesLost(error);
      },
      unsubmitted: (error) => {
        const again = this.#life.is('interrupted') && this.#restarts.unsubmitted();
        if (!again) this.#end(error);
        return again;
      },
    });
    if (restored !== undefined) this.#restore(restored);
    else if (this.#allocation === undefined) this.#team = this.#start();
    else this.#allocation.ask();
  }

  get state(): SupervisedRunState {
    return {
      run: this.#options.run,
      phase: this.#life.phase,
      spec: this.#options.spec,
      lastSequence: this.#options.journal.lastSequence,
      createdAt: this.#createdAt,
      ranks: this.#options.ranks,
      switches: this.#switches.later,
      ...(this.#life.is('ended') ? { ending: this.#options.journal.ending } : {}),
      ...(this.#life.phase === 'interrupted'
        ? { resumable: this.#resumable, schedule: this.#switches.passedAt }
        : {}),
    };
  }

  get journal(): Journal {
    return this.#options.journal;
  }

  /** Whether it needs this process: it runs, or will run by itself. */
  get isLive(): boolean {
    return this.#life.is('interrupted') ? this.#isAllHere : !this.#life.is('ended');
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
    if (this.#team === undefined || !this.#life.can('begin')) {
      throw failure('RUN_STATE', `the run is ${this.#life.state}, not preparing`);
    }
    this.#life.happens('begin');
    this.#team.begin(addresses);
    this.#journal.changed();
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
    if (!this.#life.is('interrupted') || this.#outcome.isStopping) {
      throw failure('RUN_STATE', `the run is ${this.#life.state}, not interrupted`);
    }
    this.#setting = setting;
    this.#switches.adopt(switches);
    this.#admission.restart(iteration);
    this.#checkpoints.returnTo(iteration);
    this.#life.happens('start');
    this.#team = this.#start({ iteration, switches });
  }

  /** Ends after the current iteration, or at once. Resolves when the run has ended. */
  async stop(now = false): Promise<void> {
    this.#outcome.stopped();
    if (this.#life.is('interrupted', 'resuming')) this.abort(stoppedInterrupted());
    else if (this.#life.is('closing')) this.#close(this.#loss);
    else if (this.#life.is('queued')) this.abort(stoppedEarly());
    else if (now) this.#team?.abort(stoppedNow());
    else this.#team?.stop();
    await this.ended;
  }

  /** Ends at once, because of this error. */
  abort(error: ErrorData): void {
    if (this.#team !== undefined) this.#team.abort(error);
    // The reason is still sought: this one will do.
    else if (this.#life.is('closing')) this.#close(error);
    else if (this.#life.is('queued') || !isRestartable(error)) this.#end(error);
  }

  /**
   * Ends its processes, because this one ends; a run that may continue later is interrupted.
   * Resolves when they are gone, their nodes are released, and the journal records it.
   */
  async leave(error: ErrorData): Promise<void> {
    this.#restarts.close();
    const isSettled = (): boolean => this.#life.is('ended', 'interrupted');
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
    return this.#journal.follow(listener);
  }

  #start(from?: Resumption): RankTeam {
    this.#resumed = from?.iteration;
    return new RankTeam(
      teamOptions(this.#options, this.#setting, {
        placement: this.#allocation?.placement,
        checkpoints: this.#checkpoints.directory,
        from,
      }),
      {
        ...this.#journal.heard,
        started: (started) => {
          this.#started(started);
        },
        checkpoint: (rank, written) => {
          const record = this.#checkpoints.add(rank, written);
          if (record === undefined) return;
          this.#restarts.progressed();
          this.#journal.store([record]);
        },
        ended: (error) => {
          this.#teamEnded(error);
        },
      },
    );
  }

  #started(started: TeamStart): void {
    this.#life.happens('connected');
    this.#journal.started(started, this.#resumed, this.#allocation?.placement);
    if (this.#resumed !== undefined) this.#journal.changed();
  }

  /** The processes are gone. */
  #teamEnded(lost: ErrorData | undefined): void {
    this.#journal.ended();
    this.#outcome.ranksGone(this.#team!.finished);
    this.#team = undefined;
    this.#life.happens('gone');
    const error = lost ?? this.#outcome.shortfall;
    const isLoss = error !== undefined && isRestartable(error);
    if (this.#allocation === undefined || !isLoss) this.#close(error);
    else {
      // When nodes are taken away their ranks die first.
      this.#loss = error;
      void this.#allocation.explain(error).then((cause) => {
        if (this.#life.is('closing')) this.#close(cause);
      });
    }
  }

  #close(error: ErrorData | undefined): void {
    if (error === undefined || !this.#mayRestart(error)) this.#end(error);
    else this.#interrupt(error);
  }

  #mayRestart(error: ErrorData): boolean {
    const { onFailure } = this.#options.spec;
    if (onFailure !== 'restart' || this.#outcome.isStopping) return false;
    // A run that never started has nothing to resume from.
    return this.#life.hasRun && isRestartable(error);
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
    this.#life.happens('interrupt');
    const { node } = this.#options;
    this.#journal.store([{ type: 'interrupted', at: Date.now(), node, error }]);
    const { nodesEnd } = this.#outcome;
    const isOver = nodesEnd !== undefined || error.code === 'SUPERVISOR_STOPPED';
    if (isOver) this.#allocation?.release();
    this.#outcome.interrupted();
    this.#journal.changed();
    if (this.#isAllHere && error.code !== 'SUPERVISOR_STOPPED') this.#restarts.soon();
  }

  get #resumable(): readonly number[] {
    return this.#checkpoints.resumable(this.#admission);
  }

  /** Ranks of other nodes must be started by a process that reaches those nodes. */
  get #isAllHere(): boolean {
    return this.#options.ranks.length === this.#options.spec.world.ranks;
  }

  #restartHere(): void {
    if (!this.#life.is('interrupted')) return;
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
        if (this.#team !== team) return;
        this.begin(namedAddresses(addresses, this.#allocation?.placement));
      },
      () => undefined, // The team has ended and reports why.
    );
  }

  /** Starts the ranks on nodes that Slurm has allocated. */
  #startOnNodes(): void {
    if (this.#life.is('interrupted')) this.#restartHere();
    else if (this.#life.is('queued')) {
      this.#life.happens('start');
      this.#team = this.#start();
      this.#beginWhenPrepared();
    }
  }

  /** Ends a run that has lost its nodes, and so its ranks, or waits for others. */
  #nodesLost(error: ErrorData): void {
    this.#allocation?.release();
    if (this.#life.is('ended')) return;
    const again = this.#life.is('interrupted') && isRestartable(error);
    if (again && this.#restarts.interrupted()) this.#restarts.soon();
    else this.#end(error);
  }

  #restore(progress: RestoredProgress): void {
    this.#switches.restore(progress);
    if (!progress.interrupted) this.#interrupt(progress.error);
    else if (this.#isAllHere) this.#restarts.soon();
  }

  #end(error: ErrorData | undefined): void {
    if (this.#life.is('ended')) return;
    this.#restarts.close();
    this.#allocation?.release();
    const last: RunRecord =
      error === undefined
        ? this.#outcome.result!
        : { type: 'failed', at: Date.now(), error };
    this.#life.happens('end');
    this.#journal.appendLast(last);
    this.#ended.resolve(error);
    this.#journal.changed();
  }
}
