/**
 * A run's nodes, as Slurm allocates them: one job at a time is submitted, waited for, and
 * released. A job whose supervisor is gone releases its nodes by itself (`holder-script.ts`),
 * and its time limit is the last resort.
 */
import { GrowingPause } from '../../shared/async/growing-pause.ts';
import { mkdirSync, rmSync } from 'node:fs';
import { toErrorData, type ErrorData } from '../../shared/errors/errors.ts';
import { assignRanks, placesOf } from '../../shared/machines/rank-assignment.ts';
import type { AllocatedRecord } from '../../shared/records/allocated.ts';
import type { QueuedRecord } from '../../shared/records/queued.ts';
import type { SlurmSettings } from '../../shared/machines/slurm-settings.ts';
import { nodeShare } from '../../shared/spec/slurm-share.ts';
import type { RankPlacement } from '../world/rank-placement.ts';
import { allottedNodes, type AllottedNodes } from './allotted-nodes.ts';
import { EndWatch } from './end-watch.ts';
import { environmentSeconds } from './environment-seconds.ts';
import { Heartbeat } from './heartbeat.ts';
import { holderScript } from './holder-script.ts';
import { cancelJob } from './job-cancellation.ts';
import { endingOf, endOf } from './job-errors.ts';
import { jobOptions } from './job-options.ts';
import { explainStep, rankStep } from './rank-step.ts';
import { askJob, isOver, submitJob, type JobStatus } from './slurm-client.ts';
import {
  jobFile,
  leftJobs,
  makeMark,
  writeJob,
  type JobMark,
  type SlurmJob,
} from './slurm-job.ts';

const FIRST_LOOK_MS = 250;
const LONGEST_LOOK_MS = 10_000;
/**
 * Time for a job that completes to be over: Slurm kills its rest after 30 s, then scripts of the
 * site run on its nodes, and one that does not answer is given up after minutes.
 */
const COMPLETING_MS = 600_000;
const COMPLETING_LOOK_MS = 500;
/** The state of a job whose processes are ended, or have ended. */
const COMPLETING = { state: 'COMPLETING' };
/** Time for the ranks to start, which may load modules on busy nodes and files over a network. */
const START_MS = 300_000;
/** Time for which a supervisor may be silent before its job ends. */
const PATIENCE_SECONDS = 120;
/** Time for which a job is kept that runs, but whose nodes Slurm or DNS do not tell. */
const NODES_PATIENCE_MS = 600_000;
/** Answers that may be others a moment later: the job was perhaps awaited for hours. */
const PASSING: ReadonlySet<string> = new Set([
  'SLURM_SILENT',
  'SLURM_MISSING',
  'COMPUTE_NODE_UNKNOWN',
]);

export interface AllocationOptions {
  readonly run: string;
  readonly ranks: number;
  readonly settings: SlurmSettings;
  /** The run's folder, in a home that the compute nodes share. */
  readonly folder: string;
  /** The login node's name in records. */
  readonly node: string;
  /** Time for which a job's nodes may be unknown while it runs; default: ten minutes. */
  readonly nodesPatienceMs?: number;
  /** Time for which a job may complete; default: ten minutes. */
  readonly completingMs?: number;
}

export interface AllocationListener {
  /** The job waits; called again when its status changes. */
  queued(record: QueuedRecord): void;
  /** `placement` are available from now on. */
  allocated(record: AllocatedRecord): void;
  /** Slurm is about to take the nodes back. */
  ending(error: ErrorData): void;
  /** The job is over, with or without ranks. */
  lost(error: ErrorData): void;
  /** The job could not be submitted, or nobody knows whether it was. */
  unsubmitted(error: ErrorData): void;
}

export class SlurmAllocation {
  readonly #options: AllocationOptions;
  readonly #listener: AllocationListener;
  readonly #asked = Promise.withResolvers<undefined>();
  #job: Job | undefined;

  constructor(options: AllocationOptions, listener: AllocationListener) {
    this.#options = options;
    this.#listener = listener;
    // The caller may no longer be waiting.
    this.#asked.promise.catch(() => undefined);
  }

  /**
   * Resolves when Slurm has accepted the first job. @throws (rejects) the error that `ask`
   * reports to `unsubmitted`
   */
  get asked(): Promise<unknown> {
    return this.#asked.promise;
  }

  /** The currently allocated nodes. */
  get placement(): RankPlacement | undefined {
    return this.#job?.placement;
  }

  /**
   * Requests nodes, unless already requested. `unsubmitted` receives `SLURM_MISSING`,
   * `SLURM_SILENT`, `SLURM_REFUSED` or `SLURM_TOO_SMALL` if there is no job.
   */
  ask(): void {
    if (this.#job !== undefined) return;
    const job = new Job(this.#options, this.#listener);
    this.#job = job;
    job.submit().then(
      () => {
        this.#asked.resolve(undefined);
      },
      (error: unknown) => {
        if (this.#job !== job) {
          this.#asked.resolve(undefined); // Nobody wants it any longer.
          return;
        }
        this.#asked.reject(error);
        this.release();
        this.#listener.unsubmitted(toErrorData(error));
      },
    );
  }

  /**
   * The cause of an error of ranks: their own, or the end of the job.
   * @returns the ranks' error, or the job's if it is over
   */
  async explain(error: ErrorData | undefined): Promise<ErrorData | undefined> {
    const job = this.#job;
    if (error === undefined || job === undefined) return error;
    const ended = await job.findEnd();
    if (ended === undefined) return error;
    if (this.#job === job) this.release();
    return ended;
  }

  /** Releases the nodes, or cancels the request. */
  release(): void {
    this.#job?.release();
    this.#job = undefined;
  }
}

/** Ends the jobs that an earlier supervisor has left, if any. */
export function cancelLeftJobs(folder: string): void {
  for (const { file, mark } of leftJobs(folder)) cancelJob(mark, file);
}

class Job {
  readonly #options: AllocationOptions;
  readonly #listener: AllocationListener;
  readonly #heartbeat: Heartbeat;
  readonly #mark: JobMark;
  readonly #submission = new AbortController();
  #job: SlurmJob | undefined;
  #requested = false;
  #placement: RankPlacement | undefined;
  #told: string | undefined;
  #released = false;
  readonly #looks = new GrowingPause({
    first: FIRST_LOOK_MS,
    longest: LONGEST_LOOK_MS,
    factor: 1.5,
  });
  #look: NodeJS.Timeout | undefined;
  #end: EndWatch | undefined;
  /** Whether it has had its nodes. */
  #hasRun = false;
  #completingSince: number | undefined;
  /** When its nodes could no longer be told, though it runs. */
  #unknownSince: number | undefined;

  constructor(options: AllocationOptions, listener: AllocationListener) {
    this.#options = options;
    this.#listener = listener;
    this.#mark = makeMark(options.run, options.settings.options);
    this.#heartbeat = new Heartbeat(options.folder);
  }

  get placement(): RankPlacement | undefined {
    return this.#placement;
  }

  async submit(): Promise<void> {
    const { ranks, settings, folder, node } = this.#options;
    const mark = this.#mark;
    const options = jobOptions(mark, nodeShare(ranks, settings), settings);
    const patienceSeconds =
      environmentSeconds('GRADWIRE_SLURM_PATIENCE_SECONDS') ?? PATIENCE_SECONDS;
    this.#end = new EndWatch((end) => {
      this.#listener.ending(endingOf(this.#job!, end, node).toData());
    });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#heartbeat.start(patienceSeconds);
    const script = holderScript({ heartbeat: this.#heartbeat.file, patienceSeconds });
    // Before sbatch is called: a supervisor that is killed then has left a job, too.
    writeJob(folder, mark);
    this.#requested = true;
    const job = await this.#sent(script, options);
    this.#job = job;
    if (this.#released) {
      this.#cancel();
      return;
    }
    writeJob(folder, job);
    this.#listener.queued({ type: 'queued', at: Date.now(), node, job: job.id });
    this.#lookAgain();
  }

  async #sent(script: string, options: readonly string[]): Promise<SlurmJob> {
    const { folder, node } = this.#options;
    const { signal } = this.#submission;
    const mark = this.#mark;
    try {
      return await submitJob({ script, options, mark, node, signal });
    } catch (error) {
      // Silence leaves it open whether there is a job; everything else says that there is none.
      if (toErrorData(error).code !== 'SLURM_SILENT') {
        this.#requested = false;
        rmSync(jobFile(folder, mark), { force: true });
      }
      throw error;
    }
  }

  /** Finds how the job ended; undefined while it continues, as far as Slurm reports. */
  async findEnd(): Promise<ErrorData | undefined> {
    const pauses = new GrowingPause({
      first: COMPLETING_LOOK_MS,
      longest: LONGEST_LOOK_MS,
      factor: 1.5,
    });
    while (!this.#released) {
      const answer = await askJob(this.#job!);
      // Without an answer a job that completes goes on to.
      const isKnown = answer !== undefined || this.#completingSince === undefined;
      const status = isKnown ? answer : COMPLETING;
      if (status === undefined) return undefined;
      if (this.#isOver(status)) return this.#endOf(status);
      if (status.state !== COMPLETING.state) return undefined;
      await new Promise((resolve) => setTimeout(resolve, pauses.next()));
    }
    return undefined;
  }

  /** Whether it has ended, or completes for so long that nobody waits for the end. */
  #isOver({ state }: Pick<JobStatus, 'state'>): boolean {
    if (isOver({ state })) return true;
    if (state !== COMPLETING.state) return false;
    const { completingMs = COMPLETING_MS } = this.#options;
    // No ranks are started on nodes that Slurm takes back.
    this.#placement = undefined;
    this.#completingSince ??= performance.now();
    return performance.now() - this.#completingSince >= completingMs;
  }

  #endOf(status: Pick<JobStatus, 'state'>): ErrorData {
    return endOf(this.#job!, status, this.#options.node).toData();
  }

  release(): void {
    this.#released = true;
    this.#placement = undefined;
    clearTimeout(this.#look);
    this.#end?.stop();
    this.#heartbeat.stop();
    this.#submission.abort();
    if (this.#requested) this.#cancel();
  }

  #cancel(): void {
    cancelJob(this.#job ?? this.#mark, jobFile(this.#options.folder, this.#mark));
  }

  #lookAgain(): void {
    this.#look = setTimeout(() => {
      this.#lookNow().then(
        (goesOn) => {
          if (goesOn && !this.#released) this.#lookAgain();
        },
        (error: unknown) => {
          if (!this.#released) this.#listener.lost(toErrorData(error));
        },
      );
    }, this.#looks.next());
  }

  /** @returns whether to keep watching */
  async #lookNow(): Promise<boolean> {
    const status = await askJob(this.#job!);
    if (status === undefined || this.#released) return true;
    if (this.#isOver(status)) {
      this.#listener.lost(this.#endOf(status));
      return false;
    }
    if (status.state !== 'RUNNING') {
      this.#end?.stop();
      if (!this.#hasRun) this.#tell(status);
      return true;
    }
    if (this.#placement === undefined) {
      const nodes = await this.#findNodes(status);
      if (nodes === undefined || this.#released) return true;
      this.#take(status, nodes);
    }
    this.#end?.runs(status);
    return true;
  }

  #tell({ state, reason, start }: JobStatus): void {
    const why = reason ?? (state === 'PENDING' ? undefined : state);
    // Expected times change by seconds all the time.
    const expected = start && Math.floor(start / 60_000) * 60_000;
    const told = JSON.stringify([why, expected]);
    if (told === this.#told || (why === undefined && expected === undefined)) return;
    this.#told = told;
    this.#listener.queued({
      type: 'queued',
      at: Date.now(),
      node: this.#options.node,
      job: this.#job!.id,
      ...(why === undefined ? {} : { reason: why }),
      ...(expected === undefined ? {} : { expected }),
    });
  }

  /**
   * The nodes of a job that runs; undefined if they cannot be told now. One question that
   * stays without an answer must not cost an allocation.
   * @throws what lasts too long
   */
  async #findNodes(status: JobStatus): Promise<AllottedNodes | undefined> {
    const { ranks, nodesPatienceMs = NODES_PATIENCE_MS } = this.#options;
    try {
      const found = await allottedNodes(this.#job!, status, ranks);
      this.#unknownSince = undefined;
      return found;
    } catch (error) {
      const { code, message } = toErrorData(error);
      this.#unknownSince ??= performance.now();
      const late = performance.now() - this.#unknownSince >= nodesPatienceMs;
      if (late || !PASSING.has(code)) throw error;
      const reason = `it runs, but its nodes are not known yet: ${message}`;
      if (!this.#released) this.#tell({ ...status, reason, start: undefined });
      return undefined;
    }
  }

  #take(status: JobStatus, found: AllottedNodes): void {
    this.#placement = this.#makePlacement(found);
    this.#hasRun = true;
    this.#listener.allocated({
      type: 'allocated',
      at: Date.now(),
      node: this.#options.node,
      job: this.#job!.id,
      computeNodes: found.nodes.map(({ name }) => name),
      ...(status.end === undefined ? {} : { until: status.end }),
    });
  }

  #makePlacement({ nodes, addresses, coresPerNode }: AllottedNodes): RankPlacement {
    const { ranks, settings } = this.#options;
    const job = this.#job!;
    const shares = assignRanks(ranks, nodes);
    const places = placesOf(shares);
    const most = Math.max(...shares.map(([, share]) => share.length));
    const nodeOf = (rank: number): string => nodes[places[rank]!]!.name;
    return {
      places,
      coresPerRank: coresPerNode / most,
      startMs: START_MS,
      nodeOf,
      listenOf: (rank) => addresses[places[rank]!]!,
      commandOf: (rank, entry) => ({
        prefix: rankStep({ job, node: nodeOf(rank), setup: settings.setup, entry }),
        reports: 'stdout',
      }),
      explain: (rank, exit) => explainStep(exit, { rank, node: nodeOf(rank) }),
    };
  }
}
