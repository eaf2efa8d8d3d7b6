/**
 * Sweeps and their queues. A run of a sweep and the run that is launched for it are joined in one
 * transaction, so that none is launched twice, whichever process is killed. One process drives a
 * sweep: it claims it, says from time to time that it goes on, and every launch checks that it
 * still does.
 */
import type Database from 'better-sqlite3';
import { inputError, type ErrorData } from '../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { MOST_SWEEP_RUNS } from '../../shared/sweep/sweep-definition.ts';
import type { SweepEdit } from '../../shared/sweep/sweep-edit.ts';
import type { ExpandedSweep } from '../../shared/sweep/sweep-points.ts';
import type { SweepDetail, SweepSummary } from '../../shared/sweep/sweep-status.ts';
import type { GuardedDatabase } from './guarded-database.ts';
import { jsonOrNothing } from './stored-json.ts';
import {
  isDriven,
  runStateOf,
  sweepDetail,
  sweepSummary,
  type SweepRow,
  type SweepRunRow,
} from './sweep-rows.ts';
import { prepareSweepStatements, type QueuedRow } from './sweep-statements.ts';

export interface NewSweep extends Omit<ExpandedSweep, 'points'> {
  readonly id: string;
  readonly points: readonly {
    readonly number: number;
    readonly label: string;
    readonly values: Readonly<Record<string, string>>;
    readonly spec: ExperimentSpec;
  }[];
  readonly atOnce: number;
  readonly createdAt: number;
  /** The process that drives it from the beginning; default: none. */
  readonly driver?: string | undefined;
}

/** The next run of a queue. */
export interface QueuedRun {
  readonly sweep: string;
  /** Number in the sweep. */
  readonly number: number;
  readonly label: string;
  readonly seed: number;
  /** The spec of its point as it was stored, not parsed. */
  readonly spec: unknown;
}

/** Errors of runs that ended before they began because their launcher did. */
const UNBEGUN: readonly string[] = ['RUN_LOST', 'RUN_ABANDONED', 'RUN_NOT_BEGUN'];

export class SweepTable {
  readonly #database: GuardedDatabase;
  readonly #statements: ReturnType<typeof prepareSweepStatements>;

  constructor(guarded: GuardedDatabase, database: Database.Database) {
    this.#database = guarded;
    this.#statements = prepareSweepStatements(database);
  }

  /** Stores a sweep; a name that is taken gets a number. Seeds vary slowest. */
  create(sweep: NewSweep): SweepSummary {
    const { atOnce, createdAt, driver, id, keys, points, seeds } = sweep;
    return this.#database.write(() => {
      const { lastInsertRowid } = this.#statements.create.run({
        id,
        name: this.#freeName(sweep.name),
        keys: JSON.stringify(keys),
        at_once: atOnce,
        driver: driver ?? null,
        created_at: createdAt,
      });
      const number = Number(lastInsertRowid);
      for (const { label, number: point, spec, values } of points) {
        const texts = JSON.stringify(values);
        this.#statements.addPoint.run(
          number,
          point,
          label,
          texts,
          JSON.stringify(spec),
        );
      }
      this.#addSeeds(number, seeds);
      return this.#summary(this.#statements.byId.get(id)!);
    });
  }

  list(): readonly SweepSummary[] {
    return this.#database.read(() =>
      this.#statements.all.all().map((row) => this.#summary(row)),
    );
  }

  /** @throws GradwireError `SWEEP_UNKNOWN` */
  summary(id: string): SweepSummary {
    return this.#database.read(() => this.#summary(this.#row(id)));
  }

  /** @throws GradwireError `SWEEP_UNKNOWN` */
  detail(id: string): SweepDetail {
    return this.#database.read(() => {
      const row = this.#row(id);
      const points = this.#statements.points.all(row.number);
      return sweepDetail(row, points, this.#runs(row), Date.now());
    });
  }

  /**
   * The id of a sweep by its name, or the beginning of its id.
   * @throws GradwireError `SWEEP_UNKNOWN`, `SWEEP_AMBIGUOUS`
   */
  resolve(text: string): string {
    const all = this.#database.guard(() => this.#statements.all.all());
    const exact = all.find(({ id, name }) => name === text || id === text);
    if (exact !== undefined) return exact.id;
    const found = text === '' ? [] : all.filter(({ id }) => id.startsWith(text));
    if (found.length === 1) return found[0]!.id;
    if (found.length === 0) throw unknownSweep(text);
    throw inputError('SWEEP_AMBIGUOUS', `several sweep ids start with "${text}"`, {
      next: `Give more characters of one of: ${found
        .slice(0, 5)
        .map(({ id }) => id)
        .join(', ')}.`,
    });
  }

  /**
   * Makes a process the driver, unless another one is. What that one left half done, it puts back
   * into the queue.
   */
  claim(id: string, driver: string): boolean {
    return this.#database.write(() => {
      const row = this.#row(id);
      const now = Date.now();
      if (row.driver !== driver && isDriven(row, now)) return false;
      this.#statements.drive.run({ number: row.number, driver, now });
      this.#touch(row);
      return true;
    });
  }

  /** Says that the driver goes on. @returns whether it is still the driver */
  drives(id: string, driver: string): boolean {
    return this.#database.write(
      () => this.#statements.beat.run({ id, driver, now: Date.now() }).changes > 0,
    );
  }

  /** The driver leaves it. */
  release(id: string, driver: string): void {
    this.#database.write(() => {
      if (this.#statements.release.run(id, driver).changes > 0)
        this.#touch(this.#row(id));
    });
  }

  /** Puts runs that never began back into the queue: their driver was killed before. */
  requeueUnbegun(id: string): void {
    this.#database.write(() => {
      const row = this.#row(id);
      for (const run of this.#runs(row)) {
        if (run.state !== 'launched' || (run.iterations ?? 0) > 0) continue;
        const error = jsonOrNothing(run.run_error) as { code?: string } | undefined;
        if (UNBEGUN.includes(error?.code ?? ''))
          this.#setState(row, run.entry, 'queued');
      }
    });
  }

  /** The first run that waits, unless the sweep is stopped. */
  next(id: string): QueuedRun | undefined {
    const row = this.#database.guard(() => this.#statements.next.get(id));
    return row && queuedRun(id, row);
  }

  /** Ids of runs that have not ended. */
  live(id: string): readonly string[] {
    return this.#database.guard(() =>
      this.#statements.live.all(id).map(({ run }) => run),
    );
  }

  /**
   * Joins a run of the queue with the row of the run that is launched for it. Belongs into the
   * transaction that makes the row.
   * @throws GradwireError `SWEEP_CHANGED`: it waits no more, or another process drives the sweep
   */
  launched(
    { number, sweep }: Pick<QueuedRun, 'number' | 'sweep'>,
    run: number,
    driver: string,
  ): void {
    const row = this.#row(sweep);
    const { changes } = this.#statements.launched.run({
      sweep: row.number,
      entry: number,
      run,
      driver,
    });
    if (changes === 0) {
      throw inputError('SWEEP_CHANGED', `run ${number} of ${row.name} waits no more`);
    }
    this.#statements.setSweep.run(row.number, run);
    this.#touch(row);
  }

  /** A run that waits could not be launched. */
  fail(id: string, entry: number, error: ErrorData): void {
    this.#database.write(() => {
      const row = this.#row(id);
      this.#statements.fail.run(JSON.stringify(error), row.number, entry);
      this.#touch(row);
    });
  }

  /**
   * Nothing more is launched until it is resumed.
   * @param isInterrupted whether runs in progress are to be stopped, and run again afterwards
   * @returns ids of the runs in progress
   */
  stop(
    id: string,
    {
      error,
      isInterrupted,
    }: { readonly error?: ErrorData; readonly isInterrupted: boolean },
  ): readonly string[] {
    return this.#database.write(() => {
      const row = this.#row(id);
      const live = this.live(id);
      this.#statements.stop.run(
        error === undefined ? null : JSON.stringify(error),
        row.number,
      );
      if (isInterrupted) this.#statements.interrupt.run(row.number);
      this.#touch(row);
      return live;
    });
  }

  /** Goes on with a stopped sweep; what was stopped with it waits again. */
  resume(id: string): void {
    this.#database.write(() => {
      const row = this.#row(id);
      this.#statements.resume.run(row.number);
      for (const run of this.#runs(row)) {
        if (run.state !== 'interrupted') continue;
        const state = runStateOf(run);
        const isOver = state === 'running' || state === 'completed';
        this.#setState(row, run.entry, isOver ? 'launched' : 'queued');
      }
      this.#touch(row);
    });
  }

  /** @throws GradwireError `SWEEP_RUN_UNKNOWN`, `SWEEP_TOO_LARGE`, `SWEEP_UNKNOWN` */
  edit(id: string, edit: SweepEdit): void {
    this.#database.write(() => {
      const row = this.#row(id);
      const runs = new Map(this.#runs(row).map((run) => [run.entry, run]));
      const some = (numbers: readonly number[], states: readonly string[]): void => {
        for (const number of numbers) {
          const run = runs.get(number);
          const state = run && runStateOf(run);
          if (state !== undefined && states.includes(state)) continue;
          throw inputError(
            'SWEEP_RUN_UNKNOWN',
            state === undefined
              ? `sweep ${row.name} has no run ${number}`
              : `run ${number} of sweep ${row.name} is ${state}, not ${states.join(' or ')}`,
            { next: `List its runs: gradwire sweeps show ${row.id}.` },
          );
        }
      };
      switch (edit.type) {
        case 'drop':
          some(edit.runs, ['queued']);
          for (const run of edit.runs) this.#setState(row, run, 'dropped');
          break;
        case 'retry':
          some(edit.runs, ['dropped', 'failed', 'stopped', 'purged']);
          for (const run of edit.runs) this.#setState(row, run, 'queued');
          break;
        case 'first':
          some(edit.runs, ['queued']);
          for (const run of edit.runs.toReversed())
            this.#statements.putFirst.run(row.number, run);
          break;
        case 'seeds':
          this.#addSeeds(row.number, edit.seeds);
          break;
        case 'at-once':
          this.#statements.setAtOnce.run(edit.atOnce, row.number);
          break;
        default:
          edit satisfies never;
      }
      this.#touch(row);
    });
  }

  /** Deletes a sweep. Its runs are kept. */
  remove(id: string): void {
    this.#database.write(() => {
      const row = this.#row(id);
      if (this.live(id).length > 0) {
        throw inputError('RUN_NOT_ENDED', `a run of sweep ${row.name} is in progress`, {
          next: `Stop it first: gradwire sweeps stop ${row.id}.`,
        });
      }
      this.#statements.remove.run(row.number);
    });
  }

  /** A text that is another one after every change of any sweep. */
  version(): string {
    return this.#database.guard(() => {
      const { changed, count } = this.#statements.version.get()!;
      return `${changed}/${count}`;
    });
  }

  /** Ids of sweeps that a process may drive: they have something to do, and nobody does it. */
  waiting(): readonly string[] {
    return this.list()
      .filter(({ state }) => state === 'waiting')
      .map(({ id }) => id);
  }

  #addSeeds(sweep: number, seeds: readonly number[]): void {
    for (const seed of seeds) this.#statements.addSeed.run({ sweep, seed });
    const { count } = this.#statements.count.get(sweep)!;
    if (count <= MOST_SWEEP_RUNS) return;
    throw inputError(
      'SWEEP_TOO_LARGE',
      `with these seeds the sweep has ${count} runs; at most ${MOST_SWEEP_RUNS} are possible`,
      { next: 'Add fewer seeds.' },
    );
  }

  #freeName(name: string): string {
    let free = name;
    for (let more = 2; this.#statements.byName.get(free) !== undefined; more++) {
      free = `${name} ${more}`;
    }
    return free;
  }

  #row(id: string): SweepRow {
    const row = this.#statements.byId.get(id);
    if (row === undefined) throw unknownSweep(id);
    return row;
  }

  #runs({ number }: SweepRow): readonly SweepRunRow[] {
    return this.#statements.runs.all(number);
  }

  #summary(row: SweepRow): SweepSummary {
    return sweepSummary(row, this.#runs(row), Date.now());
  }

  #setState({ number }: SweepRow, entry: number, state: SweepRunRow['state']): void {
    this.#statements.setState.run({ sweep: number, entry, state });
  }

  #touch({ number }: SweepRow): void {
    this.#statements.touch.run(number);
  }
}

const queuedRun = (sweep: string, row: QueuedRow): QueuedRun => ({
  sweep,
  number: row.entry,
  label: row.label,
  seed: row.seed,
  spec: jsonOrNothing(row.spec),
});

const unknownSweep = (text: string): Error =>
  inputError('SWEEP_UNKNOWN', `there is no sweep "${text}"`, {
    next: 'List them: gradwire sweeps list.',
  });
