/**
 * Runs of a figure that has not been finished, beside where its result will be: `ID.runs.jsonl`, what they
 * are of and then a line for each, until the result is written. Whoever resumes the figure makes only
 * the others.
 */
import { createHash } from 'node:crypto';
import { appendFile, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { PlannedRun } from '../../reproduce/planned-runs.ts';
import {
  storedRunSchema,
  type Result,
  type StoredRun,
} from '../../reproduce/result.ts';
import { fileNotWritable } from '../../shared/errors/file-error.ts';
import { appVersion } from '../home/installation.ts';

const headSchema = z.strictObject({ of: z.string() });
const keptSchema = z.strictObject({ run: storedRunSchema, milliseconds: z.number() });
/** A run's line, with a sum by which a damaged one is recognised. */
const lineSchema = z.strictObject({ ...keptSchema.shape, sum: z.string() });
/** A run, and how long it took. */
export type KeptRun = Readonly<z.infer<typeof keptSchema>>;

/** Runs that are taken up: those of another version, machine or spec are not. */
export interface KeptFor {
  readonly planned: readonly PlannedRun[];
  /** The machine; others take other times and, by PyTorch, give other bits. */
  readonly device: Pick<Result['device'], 'processor' | 'cores'>;
}

export class KeptRuns {
  readonly #file: string;
  readonly #runs: readonly KeptRun[];
  /** The first line, until it is written. */
  #head: string | undefined;

  private constructor(file: string, identity: string, runs: readonly KeptRun[]) {
    this.#file = file;
    this.#runs = runs;
    if (runs.length === 0) this.#head = JSON.stringify({ of: identity });
  }

  /**
   * Takes up a file of the same runs, or begins anew; there is a file once there is a run.
   * @throws GradwireError `OUTPUT_NOT_WRITABLE`
   */
  static async open(
    directory: string,
    figure: string,
    of: KeptFor & { readonly resume: boolean },
  ): Promise<KeptRuns> {
    const file = fileOf(directory, figure);
    const runs = of.resume ? await readRuns(file, of) : [];
    if (runs.length === 0) await written(file, rm(file, { force: true }));
    return new KeptRuns(file, identityOf(of), runs);
  }

  /** The number of runs that a resumed figure would take up. */
  static async count(directory: string, figure: string, of: KeptFor): Promise<number> {
    return (await readRuns(fileOf(directory, figure), of)).length;
  }

  /** The run of a case and a seed, if it was made before. */
  find({ case: { id }, seed }: PlannedRun): KeptRun | undefined {
    return this.#runs.find(({ run }) => run.case === id && run.seed === seed);
  }

  /** @throws GradwireError `OUTPUT_NOT_WRITABLE` */
  async add(run: StoredRun, milliseconds: number): Promise<void> {
    // Begun with a line's end: the last one may have been cut.
    const kept = { run, milliseconds };
    const text = JSON.stringify({ ...kept, sum: sumOf(kept) });
    const line = `${this.#head ?? ''}\n${text}\n`;
    await written(this.#file, appendFile(this.#file, line));
    this.#head = undefined;
  }

  /** Removes the file: the result has all, or there is nothing to take up. */
  async remove(): Promise<void> {
    await rm(this.#file, { force: true });
  }
}

const fileOf = (directory: string, figure: string): string =>
  path.join(directory, `${figure}.runs.jsonl`);

/** A short text of what the runs are of. */
function identityOf({ device: { cores, processor }, planned }: KeptFor): string {
  const specs = planned.map(({ spec }) => spec);
  const all = JSON.stringify([appVersion(), processor, cores, specs]);
  return createHash('sha256').update(all).digest('hex');
}

/** Returns none if there is no file, or one of other runs; a line that was cut is left out. */
async function readRuns(file: string, of: KeptFor): Promise<readonly KeptRun[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  if (text === '') return [];
  const [head, ...lines] = text.split('\n').filter(Boolean).map(parsed);
  if (headSchema.safeParse(head).data?.of !== identityOf(of)) return [];
  return lines.flatMap((line) => {
    const whole = lineSchema.safeParse(line).data;
    // Of the line as it is: a schema gives keys its own order.
    if (whole === undefined || whole.sum !== sumOf(line as KeptRun)) return [];
    return [{ run: whole.run, milliseconds: whole.milliseconds }];
  });
}

function sumOf({ run, milliseconds }: KeptRun): string {
  const text = JSON.stringify([run, milliseconds]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

async function written(file: string, writing: Promise<void>): Promise<void> {
  try {
    await writing;
  } catch (cause) {
    throw fileNotWritable(file, cause);
  }
}
