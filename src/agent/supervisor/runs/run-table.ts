/**
 * The runs of this node, live ones and ended ones that no app has stored yet. Journals of a
 * supervisor that died are found again at start: such a run has failed, because its workers
 * died with their supervisor; its records are replayed like any other's.
 */
import { machineTitle } from '../../../shared/machines/machine-names.ts';
import { LOCAL_NODE } from '../../../shared/machines/node-entry.ts';
import type { AnswerTo, AskedType, OrderOf } from '../../../shared/orders/orders.ts';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, readFileSync } from 'node:fs';
import { availableParallelism, hostname } from 'node:os';
import path from 'node:path';
import { syncDirectory, writeDurablySync } from '../../../disk/durable-replacement.ts';
import {
  failure,
  GradwireError,
  inputError,
  type ErrorData,
} from '../../../shared/errors/errors.ts';
import {
  journalBytes,
  parseExperimentSpec,
  type ParsedSpec,
} from '../../../shared/spec/experiment-spec.ts';
import type {
  RunStatus as SupervisedRunState,
  SupervisorRequests,
} from '../../../shared/protocol/supervisor.ts';
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import { checkSlurmRun } from '../../../shared/spec/slurm-share.ts';
import { memoryWarning } from '../../launch/memory-estimate.ts';
import { validateLaunch, type Launch } from '../../launch/validate-launch.ts';
import { cancelLeftJobs } from '../../slurm/allocation.ts';
import type { SpecFacts } from '../../training/data-facts.ts';
import { journalWriteFailed } from '../journal/journal-write-error.ts';
import { Journal } from '../journal/journal.ts';
import { lossOf, RestoredRun } from '../journal/restored-run.ts';
import { WorkTrees } from '../workdirs/work-trees.ts';
import { stoppedEarly } from '../ranks/run-errors.ts';
import { folderKind, JOURNAL, removeRun } from './run-folder.ts';
import { META, parseMeta, type RunMeta } from './run-meta.ts';
import type { RestoredProgress, RunOptions } from './run-options.ts';
import { forRun } from './run-scope.ts';
import { SeenProgress } from './seen-progress.ts';
import { SupervisedRun } from './supervised-run.ts';

const CHECKPOINTS = 'checkpoints';
/** Names in one line of the log. */
const MOST_NAMED = 5;
const SECRET_BYTES = 32;
const LOOPBACK = '127.0.0.1';

export type PrepareRequest = SupervisorRequests['prepare']['request'];

type Run = SupervisedRun | RestoredRun;

export class RunTable {
  /** Copied directories of programs, in the same home. */
  readonly trees: WorkTrees;
  readonly #directory: string;
  readonly #runs = new Map<string, Run>();
  /** Aborts of runs whose data are still being read. */
  readonly #coming = new Map<string, (error: GradwireError) => void>();
  readonly #onEnd: () => void;
  readonly #warn: (message: string) => void;

  /**
   * @param onEnd called whenever a run has ended
   * @param warn called with one line for each run that cannot be restored
   */
  constructor(directory: string, onEnd: () => void, warn: (message: string) => void) {
    this.#directory = directory;
    this.trees = new WorkTrees(path.join(path.dirname(directory), 'work'));
    this.#onEnd = onEnd;
    this.#warn = warn;
  }

  /** Find the runs that an earlier supervisor left. */
  restore(): void {
    this.trees.tidy();
    if (!existsSync(this.#directory)) return;
    const foreign: string[] = [];
    for (const id of readdirSync(this.#directory)) {
      const folder = this.#folder(id);
      const kind = folderKind(folder);
      if (kind === 'half made') rmSync(folder, { recursive: true, force: true });
      if (kind === 'foreign') foreign.push(id);
      if (kind !== 'run') continue;
      const meta = path.join(folder, META);
      try {
        this.#runs.set(id, this.#restoreRun(id, meta, path.join(folder, JOURNAL)));
      } catch (error) {
        // One damaged run must not keep all others from being found. Its files stay.
        this.#warn(
          `run ${id} cannot be restored from ${this.#folder(id)}: ${String(error)}`,
        );
      }
    }
    if (foreign.length === 0) return;
    const more = foreign.length - MOST_NAMED;
    const names = foreign.slice(0, MOST_NAMED).join(', ');
    this.#warn(
      `left alone in ${this.#directory}, because it is no complete run: ${names}` +
        (more > 0 ? ` and ${more} more` : ''),
    );
  }

  #restoreRun(id: string, metaFile: string, journalFile: string): Run {
    const meta = parseMeta(readFileSync(metaFile, 'utf8'), metaFile);
    const { createdAt } = meta;
    cancelLeftJobs(this.#folder(id));
    const spec = parseExperimentSpec(meta.spec, metaFile);
    const seen = new SeenProgress();
    const { launch } = meta;
    const note = (record: RunRecord): void => {
      seen.note(record);
    };
    const journal = Journal.reopen(journalFile, note, launch?.node);
    const mayGoOn = spec.onFailure === 'restart' && seen.mayGoOn;
    if (!mayGoOn || journal.damage !== undefined || launch === undefined) {
      return new RestoredRun(id, spec, createdAt, journal, launch);
    }
    const secret = randomBytes(SECRET_BYTES);
    const { switches } = launch;
    const known = { model: meta.model, data: meta.data };
    const allotted = launch.slurm !== undefined;
    const checked = validateLaunch(spec, switches, known, { allotted });
    const request = { run: id, spec, secret, ...launch };
    return this.#make(request, checked, meta, journal, {
      createdAt,
      later: meta.later ?? [],
      error: lossOf(journal, launch).toData(),
      ...seen.progress,
    });
  }

  /** The number of runs that need this process. */
  get live(): number {
    return [...this.#runs.values()].filter(({ isLive }) => isLive).length;
  }

  list(): readonly SupervisedRunState[] {
    return [...this.#runs.values()].map(({ state }) => state);
  }

  find(id: string): Run {
    const run = this.#runs.get(id);
    if (run === undefined) {
      throw inputError('RUN_UNKNOWN', `the supervisor has no run "${id}"`, {
        next: 'List runs with: gradwire runs list',
      });
    }
    return run;
  }

  /**
   * Reads what a run needs before it can be created. The reading continues even if the run is
   * stopped, because others may wait for it too.
   * @throws GradwireError `RUN_STOPPED`, or the error that aborted the run
   */
  async reading<T>(id: string, work: Promise<T>): Promise<T> {
    const ended = Promise.withResolvers<never>();
    this.#coming.set(id, ended.reject);
    try {
      return await Promise.race([work, ended.promise]);
    } finally {
      this.#coming.delete(id);
    }
  }

  /** Gives an order to a run. @throws GradwireError `RUN_UNKNOWN`, and what the run throws */
  async order<T extends AskedType>(
    id: string,
    order: OrderOf<T>,
  ): Promise<AnswerTo<T>> {
    const end = this.#coming.get(id);
    if (end === undefined || order.type !== 'stop') {
      return await this.find(id).orders.obey<T>(order);
    }
    end(new GradwireError(stoppedEarly()));
    return {} as AnswerTo<T>;
  }

  /** @throws GradwireError `RUN_UNKNOWN` */
  abort(id: string, error: ErrorData): void {
    const end = this.#coming.get(id);
    if (end === undefined) this.find(id).abort(error);
    else end(new GradwireError(error));
  }

  /** @param known facts already read */
  create(
    request: PrepareRequest & { readonly spec: ParsedSpec },
    known: SpecFacts = {},
  ): SupervisedRun {
    if (this.#runs.has(request.run)) {
      throw inputError('RUN_EXISTS', `run "${request.run}" already exists`);
    }
    const { switches, ranks, network, places, node, listen, ports, slurm, tree } =
      request;
    const allotted = slurm !== undefined;
    const checked = validateLaunch(request.spec, switches, known, { allotted });
    const { spec } = checked;
    if (slurm !== undefined) checkSlurmRun(spec, slurm);
    if (tree !== undefined) this.trees.directoryOf(tree);
    const launch = {
      switches,
      ranks,
      network,
      places,
      node,
      listen,
      ports,
      slurm,
      tree,
    };
    const meta = { spec, createdAt: Date.now(), launch, ...known };
    const journal = this.#makeJournal(request.run, meta);
    const run = this.#make(request, checked, meta, journal);
    this.#runs.set(request.run, run);
    return run;
  }

  /** Resumes the ranks here. @throws GradwireError `RUN_STATE`: the run is not interrupted */
  resume(request: PrepareRequest): SupervisedRun {
    const { run: id, secret, network, places, ports, resume } = request;
    const run = this.find(id);
    if (!(run instanceof SupervisedRun))
      throw failure('RUN_STATE', 'the run has ended');
    const listen = request.listen ?? LOOPBACK;
    const { iteration, schedule } = resume!;
    forRun(id, () => {
      run.resume(iteration, schedule, { secret, network, places, listen, ports });
    });
    return run;
  }

  #make(
    request: PrepareRequest,
    checked: Launch,
    meta: RunMeta,
    journal: Journal,
    restored?: RestoredProgress,
  ): SupervisedRun {
    const { spec, plan, switches, setting, memory, ...facts } = checked;
    const folder = this.#folder(request.run);
    journal.bound({
      bytes: journalBytes(spec),
      ranks: request.ranks,
      warn: this.#warn,
    });
    const options: RunOptions = {
      run: request.run,
      checkpoints: path.join(folder, CHECKPOINTS),
      restored,
      switched: (later) => {
        if (spec.onFailure === 'restart')
          this.#writeMeta(request.run, { ...meta, later });
      },
      spec,
      model: meta.model,
      plan,
      switches,
      setting,
      ranks: request.ranks,
      secret: request.secret,
      ...facts,
      // Ranks on nodes that Slurm allocates do not run here.
      memoryWarning:
        request.slurm === undefined
          ? memoryWarning(
              request.ranks.map((rank) => memory.ofRank(rank)),
              { available: process.availableMemory() },
            )
          : undefined,
      journal,
      folder,
      slurm: request.slurm,
      coresPerRank: availableParallelism() / request.ranks.length,
      network: request.network,
      places: request.places,
      node: request.node ?? hostname(),
      title: machineTitle(request.node ?? LOCAL_NODE),
      listen: request.listen ?? LOOPBACK,
      ports: request.ports,
      workdir: request.tree && this.trees.directoryOf(request.tree),
    };
    const run = forRun(request.run, () => new SupervisedRun(options));
    void run.ended.then(() => {
      this.#onEnd();
    });
    return run;
  }

  /**
   * A main has stored everything up to here; a completely stored ended run is
   * forgotten.
   */
  acknowledge(id: string, sequence: number): void {
    const run = this.#runs.get(id);
    if (run === undefined) return;
    const { phase, lastSequence } = run.state;
    if (phase !== 'ended' || sequence < lastSequence) return;
    this.#runs.delete(id);
    run.journal.close();
    // A damaged journal's contents are stored nowhere else, so its files stay.
    if (run.journal.damage === undefined) {
      removeRun(this.#folder(id));
    }
  }

  /** Ends the processes of every live run, because this supervisor ends, for this reason. */
  async abortAll(error: ErrorData): Promise<void> {
    await Promise.all(
      [...this.#runs.values()].map(async (run) => {
        await run.leave(error);
      }),
    );
  }

  #folder(id: string): string {
    return path.join(this.#directory, id);
  }

  #makeJournal(id: string, meta: RunMeta): Journal {
    this.#writeMeta(id, meta);
    const journal = Journal.create(
      path.join(this.#folder(id), JOURNAL),
      meta.launch?.node,
    );
    syncDirectory(this.#folder(id));
    return journal;
  }

  /** Writes atomically. @throws GradwireError `JOURNAL_WRITE_FAILED` */
  #writeMeta(id: string, meta: RunMeta): void {
    const folder = this.#folder(id);
    try {
      const made = mkdirSync(folder, { recursive: true, mode: 0o700 });
      if (made !== undefined) syncDirectory(path.dirname(made));
      writeDurablySync(path.join(folder, META), JSON.stringify(meta));
    } catch (cause) {
      throw journalWriteFailed(folder, cause, meta.launch?.node);
    }
  }
}
