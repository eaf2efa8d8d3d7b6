/**
 * The runs of this node, live and ended ones that nobody has stored yet. Journals of a
 * supervisor that died are found again at start: such a run has failed, for its workers
 * died with their supervisor, and what it recorded is replayed like any other.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
  readFileSync,
} from 'node:fs';
import { availableParallelism, hostname } from 'node:os';
import path from 'node:path';
import { failure, inputError } from '../../shared/errors.ts';
import {
  parseExperimentSpec,
  type ExperimentSpec,
} from '../../shared/experiment-spec.ts';
import type {
  SupervisedRun as SupervisedRunState,
  SupervisorRequests,
} from '../../shared/protocol/supervisor.ts';
import { Journal } from './journal.ts';
import { RestoredRun } from './restored-run.ts';
import { SupervisedRun } from './supervised-run.ts';
import { validateLaunch } from '../launch/validate-launch.ts';

const JOURNAL = 'journal.gwj';
const META = 'run.json';

interface RunMeta {
  readonly spec: ExperimentSpec;
  readonly createdAt: number;
}

type Run = SupervisedRun | RestoredRun;

export class RunTable {
  readonly #directory: string;
  readonly #runs = new Map<string, Run>();
  readonly #onEnd: () => void;
  readonly #warn: (message: string) => void;

  /**
   * @param onEnd called whenever a run has ended
   * @param warn told of what cannot be restored, a line each
   */
  constructor(directory: string, onEnd: () => void, warn: (message: string) => void) {
    this.#directory = directory;
    this.#onEnd = onEnd;
    this.#warn = warn;
  }

  /** Find the runs that a supervisor before this one left behind. */
  restore(): void {
    if (!existsSync(this.#directory)) return;
    for (const id of readdirSync(this.#directory)) {
      const meta = path.join(this.#folder(id), META);
      const journal = path.join(this.#folder(id), JOURNAL);
      if (!existsSync(meta) || !existsSync(journal)) {
        // A crash between making the folder and its files: nothing was recorded.
        rmSync(this.#folder(id), { recursive: true, force: true });
        continue;
      }
      try {
        const { spec, createdAt } = JSON.parse(readFileSync(meta, 'utf8')) as RunMeta;
        const parsed = parseExperimentSpec(spec, meta);
        this.#runs.set(
          id,
          new RestoredRun(id, parsed, createdAt, Journal.reopen(journal)),
        );
      } catch (error) {
        // One damaged run must not keep all others from being found. Its files stay.
        this.#warn(
          `run ${id} cannot be restored from ${this.#folder(id)}: ${String(error)}`,
        );
      }
    }
  }

  get live(): number {
    return [...this.#runs.values()].filter(({ state }) => state.phase !== 'ended')
      .length;
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

  create(request: SupervisorRequests['prepare']['request']): SupervisedRun {
    if (this.#runs.has(request.run)) {
      throw inputError('RUN_EXISTS', `run "${request.run}" exists already`);
    }
    const { spec, plan, switches, setting, notice } = validateLaunch(
      request.spec,
      request.switches,
    );
    const journal = this.#makeJournal(request.run, spec);
    const cores = availableParallelism();
    const run = new SupervisedRun({
      run: request.run,
      spec,
      plan,
      switches,
      setting,
      ranks: request.ranks,
      secret: request.secret,
      notice,
      journal,
      threads: Math.max(1, Math.floor(cores / request.ranks.length)),
      engine: engineOf(spec, cores / request.ranks.length),
      network: request.network,
      places: request.places,
      node: request.node ?? hostname(),
      listen: request.listen ?? '127.0.0.1',
      ports: request.ports,
    });
    this.#runs.set(request.run, run);
    void run.ended.then(() => {
      this.#onEnd();
    });
    return run;
  }

  /** Stored up to here by a main; an ended run that is stored whole is forgotten. */
  acknowledge(id: string, sequence: number): void {
    const run = this.#runs.get(id);
    if (run === undefined) return;
    const { phase, lastSequence } = run.state;
    if (phase !== 'ended' || sequence < lastSequence) return;
    this.#runs.delete(id);
    run.journal.close();
    // What a damaged one still holds nobody has stored: its files stay.
    if (run.journal.damage === undefined) {
      rmSync(this.#folder(id), { recursive: true, force: true });
    }
  }

  /** End every live run, because this supervisor ends. */
  async abortAll(): Promise<void> {
    const error = failure(
      'SUPERVISOR_STOPPED',
      'the supervisor was asked to end',
    ).toData();
    await Promise.all(
      [...this.#runs.values()].map(async (run) => {
        run.abort(error);
        await run.ended;
      }),
    );
  }

  #folder(id: string): string {
    return path.join(this.#directory, id);
  }

  #makeJournal(id: string, spec: ExperimentSpec): Journal {
    const folder = this.#folder(id);
    const meta: RunMeta = { spec, createdAt: Date.now() };
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(path.join(folder, META), JSON.stringify(meta), { mode: 0o600 });
    } catch (cause) {
      throw failure(
        'JOURNAL_WRITE_FAILED',
        `cannot write ${folder}: ${String(cause)}`,
        {
          next: 'Free space on that disk or set GRADWIRE_HOME to another one.',
        },
      );
    }
    return Journal.create(path.join(folder, JOURNAL));
  }
}

/** A thread of its own pays where trainer and engine can run at the same time. */
function engineOf(spec: ExperimentSpec, coresPerRank: number): 'thread' | 'inline' {
  if (spec.engine !== 'auto') return spec.engine;
  return coresPerRank >= 2 ? 'thread' : 'inline';
}
