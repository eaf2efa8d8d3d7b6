/**
 * A run's nodes, as Slurm allocates them: one job at a time is submitted, waited for, and
 * released. A job whose supervisor is gone releases its nodes by itself (`holder-script.ts`),
 * and its time limit is the last resort.
 */
import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  failure,
  toErrorData,
  type ErrorData,
  type GradwireError,
} from '../../shared/errors.ts';
import { assignRanks, placesOf } from '../../shared/rank-assignment.ts';
import type { AllocatedRecord, QueuedRecord } from '../../shared/records.ts';
import type { SlurmSettings } from '../../shared/slurm-settings.ts';
import { nodeShare } from '../../shared/slurm-share.ts';
import type { RankPlacement } from '../world/rank-placement.ts';
import { holderScript } from './holder-script.ts';
import { jobOptions } from './job-options.ts';
import { explainStep, rankStep } from './rank-step.ts';
import {
  askJob,
  cancelJob,
  findNodes,
  isOver,
  submitJob,
  type ComputeNode,
  type JobStatus,
} from './slurm-client.ts';

const FIRST_LOOK_MS = 250;
const LONGEST_LOOK_MS = 10_000;
/** Slurm kills the rest of a job about 30 s after asking it to end. */
const COMPLETING_MS = 45_000;
const COMPLETING_LOOK_MS = 500;
/** Long enough for loading modules on busy nodes and files over a network. */
const START_MS = 300_000;
const LOOPBACK = '127.0.0.1';
/**
 * How long before the end of its allocation a run ends: this, or a tenth of the time.
 */
const LONGEST_LEAD_MS = 60_000;
const LEAD_SHARE = 0.1;
/** Node's timers are limited to 31 bits. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** How long a supervisor may be silent before its job ends; tests use another value. */
const PATIENCE_SECONDS = Number(process.env.GRADWIRE_SLURM_PATIENCE_SECONDS ?? 120);
/**
 * For tests: how long before its end the allocation is left. Default: depends on its
 * time.
 */
const LEAD_SECONDS = process.env.GRADWIRE_SLURM_LEAD_SECONDS;
const JOB_FILE = 'slurm-job';

export interface AllocationOptions {
  readonly run: string;
  readonly ranks: number;
  readonly settings: SlurmSettings;
  /** The run's folder, in a home that the compute nodes share. */
  readonly folder: string;
  /** The login node's name in records. */
  readonly node: string;
}

export interface AllocationListener {
  /** The job waits; called again when its status changes. */
  queued(record: QueuedRecord): void;
  /** `placement` are available from now on. */
  allocated(record: AllocatedRecord): void;
  /** Slurm is about to take the nodes back. */
  ending(error: ErrorData): void;
  /** The job is over, with or without ranks, or could not be submitted. */
  lost(error: ErrorData): void;
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
   * reports to `lost`
   */
  get asked(): Promise<unknown> {
    return this.#asked.promise;
  }

  /** The currently allocated nodes. */
  get placement(): RankPlacement | undefined {
    return this.#job?.placement;
  }

  /**
   * Requests nodes, unless already requested. `lost` receives `SLURM_MISSING`,
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
        this.#asked.reject(error);
        if (this.#job !== job) return;
        this.release();
        this.#listener.lost(toErrorData(error));
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

/** Ends a job that an earlier supervisor has left, if any. */
export function cancelLeftJob(folder: string): void {
  const file = path.join(folder, JOB_FILE);
  try {
    cancelJob(readFileSync(file, 'utf8').trim());
    rmSync(file, { force: true });
  } catch {
    // No job was left.
  }
}

class Job {
  readonly #options: AllocationOptions;
  readonly #listener: AllocationListener;
  readonly #heartbeat: string;
  #id: string | undefined;
  #placement: RankPlacement | undefined;
  #told: string | undefined;
  #released = false;
  #beats = 0;
  #beat: NodeJS.Timeout | undefined;
  #look: NodeJS.Timeout | undefined;
  #ending: NodeJS.Timeout | undefined;
  #end: number | undefined;

  constructor(options: AllocationOptions, listener: AllocationListener) {
    this.#options = options;
    this.#listener = listener;
    // For this job only: a later supervisor must not keep it alive.
    const name = `slurm-alive-${randomBytes(4).toString('hex')}`;
    this.#heartbeat = path.join(options.folder, name);
  }

  get placement(): RankPlacement | undefined {
    return this.#placement;
  }

  async submit(): Promise<void> {
    const { run, ranks, settings, folder, node } = this.#options;
    const options = jobOptions(run, nodeShare(ranks, settings), settings);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#live();
    const script = holderScript({
      heartbeat: this.#heartbeat,
      patienceSeconds: PATIENCE_SECONDS,
    });
    const id = await submitJob(script, options, node);
    this.#id = id;
    if (this.#released) {
      cancelJob(id);
      return;
    }
    writeFileSync(path.join(folder, JOB_FILE), `${id}\n`, { mode: 0o600 });
    this.#listener.queued({ type: 'queued', at: Date.now(), node, job: id });
    this.#lookAgain(FIRST_LOOK_MS);
  }

  /** How the job ended; undefined while it continues, as far as Slurm reports. */
  async findEnd(): Promise<ErrorData | undefined> {
    const deadline = performance.now() + COMPLETING_MS;
    for (;;) {
      const status = await askJob(this.#id!);
      if (status === undefined) return undefined;
      if (isOver(status)) return endOf(this.#id!, status, this.#options.node).toData();
      const late = performance.now() > deadline;
      if (status.state !== 'COMPLETING' || late) return undefined;
      await new Promise((resolve) => setTimeout(resolve, COMPLETING_LOOK_MS));
    }
  }

  release(): void {
    this.#released = true;
    this.#placement = undefined;
    clearInterval(this.#beat);
    clearTimeout(this.#look);
    clearTimeout(this.#ending);
    rmSync(this.#heartbeat, { force: true });
    if (this.#id === undefined) return;
    cancelJob(this.#id);
    rmSync(path.join(this.#options.folder, JOB_FILE), { force: true });
  }

  #live(): void {
    const beat = (): void => {
      try {
        writeFileSync(this.#heartbeat, `${++this.#beats}\n`, { mode: 0o600 });
      } catch {
        // The disk may be full only for now.
      }
    };
    beat();
    this.#beat = setInterval(beat, (PATIENCE_SECONDS * 1000) / 10);
  }

  #lookAgain(pause: number): void {
    this.#look = setTimeout(() => {
      this.#lookNow().then(
        (goesOn) => {
          if (goesOn && !this.#released) {
            this.#lookAgain(Math.min(pause * 1.5, LONGEST_LOOK_MS));
          }
        },
        (error: unknown) => {
          if (!this.#released) this.#listener.lost(toErrorData(error));
        },
      );
    }, pause);
  }

  /** @returns whether to keep watching */
  async #lookNow(): Promise<boolean> {
    const status = await askJob(this.#id!);
    if (status === undefined || this.#released) return true;
    if (isOver(status)) {
      this.#listener.lost(endOf(this.#id!, status, this.#options.node).toData());
      return false;
    }
    if (status.state === 'RUNNING') {
      if (this.#placement === undefined) await this.#take(status);
      this.#awaitEnd(status);
    } else if (this.#placement === undefined) this.#tell(status);
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
      job: this.#id!,
      ...(why === undefined ? {} : { reason: why }),
      ...(expected === undefined ? {} : { expected }),
    });
  }

  async #take(status: JobStatus): Promise<void> {
    const { ranks, node } = this.#options;
    const found = await findNodes(status.nodeList);
    const nodes = found.slice(0, ranks);
    const addresses = await Promise.all(nodes.map((one) => addressOf(one, nodes)));
    if (this.#released) return;
    this.#placement = this.#makePlacement(
      nodes,
      addresses,
      status.cores / found.length,
    );
    this.#listener.allocated({
      type: 'allocated',
      at: Date.now(),
      node,
      job: this.#id!,
      computeNodes: nodes.map(({ name }) => name),
      ...(status.end === undefined ? {} : { until: status.end }),
    });
  }

  #makePlacement(
    nodes: readonly ComputeNode[],
    addresses: readonly string[],
    cores: number,
  ): RankPlacement {
    const { ranks, settings } = this.#options;
    const shares = assignRanks(ranks, nodes);
    const places = placesOf(shares);
    const most = Math.max(...shares.map(([, share]) => share.length));
    const nodeOf = (rank: number): string => nodes[places[rank]!]!.name;
    return {
      places,
      coresPerRank: cores / most,
      startMs: START_MS,
      nodeOf,
      listenOf: (rank) => addresses[places[rank]!]!,
      commandOf: (rank, entry) => ({
        prefix: rankStep({
          ...{ job: this.#id!, node: nodeOf(rank), setup: settings.setup, entry },
        }),
        reports: 'stdout',
      }),
      explain: (rank, exit) => explainStep(exit, { rank, node: nodeOf(rank) }),
    };
  }

  /** The end may change while the job runs. */
  #awaitEnd({ start, end }: JobStatus): void {
    if (end === this.#end) return;
    this.#end = end;
    clearTimeout(this.#ending);
    if (end === undefined || start === undefined) return;
    const lead =
      LEAD_SECONDS === undefined
        ? Math.min(LONGEST_LEAD_MS, (end - start) * LEAD_SHARE)
        : Number(LEAD_SECONDS) * 1000;
    const left = end - lead - Date.now();
    if (left > LONGEST_TIMER_MS) {
      this.#end = undefined; // To be looked at again.
      return;
    }
    this.#ending = setTimeout(
      () => {
        this.#listener.ending(endingOf(this.#id!, end, this.#options.node).toData());
      },
      Math.max(0, left),
    );
  }
}

/** @throws GradwireError `COMPUTE_NODE_UNKNOWN` */
async function addressOf(
  { name, address }: ComputeNode,
  nodes: readonly ComputeNode[],
): Promise<string> {
  if (nodes.length === 1) return LOOPBACK;
  try {
    return (await lookup(address)).address;
  } catch {
    throw failure(
      'COMPUTE_NODE_UNKNOWN',
      `the login node cannot resolve "${address}"`,
      {
        place: name,
        next: 'The login node must know the compute nodes by name. Ask the cluster’s administrators.',
      },
    );
  }
}

/** Not restartable if the job was ended on purpose. */
function endOf(job: string, { state }: JobStatus, node: string): GradwireError {
  const cancelled = state === 'CANCELLED';
  return failure(
    cancelled ? 'JOB_ENDED' : 'JOB_LOST',
    `Slurm job ${job} has ended: ${state}`,
    {
      place: node,
      next: cancelled
        ? 'It may have been cancelled by a user. Launch the run again.'
        : `Ask Slurm why (sacct -j ${job}), or launch the run again; with onFailure: restart it submits another job by itself.`,
    },
  );
}

function endingOf(job: string, end: number, node: string): GradwireError {
  const at = new Date(end).toISOString().slice(11, 16);
  return failure(
    'ALLOCATION_ENDING',
    `Slurm job ${job} reaches its time limit at ${at} UTC, before the end of the run`,
    {
      place: node,
      next: 'Request more time (--time), or set onFailure: restart to resume in another job.',
    },
  );
}
