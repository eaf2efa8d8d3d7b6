/**
 * Times of rehearsals, kept in a file of the home: a command and the page then predict the same,
 * and nothing is timed twice. They are those of one processor and one version of Gradwire; where
 * either changes, everything is timed anew. A file that cannot be read is as good as none.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { z } from 'zod';
import { writeDurablySync } from '../../disk/durable-replacement.ts';
import type { Bucket } from '../plan/buckets.ts';
import { rehearse, type Rehearsal } from './rehearsal.ts';

/** Most rehearsals in the file; the oldest go first. */
const MOST_KEPT = 2000;

const seconds = z.number().min(0);
const fileSchema = z.object({
  /** Whatever changes the times: processor, Node and Gradwire. */
  machine: z.string(),
  rehearsals: z.record(
    z.string(),
    z.object({ compress: seconds, decompress: seconds, gathered: seconds }),
  ),
});

export class KeptRehearsals {
  readonly #file: string;
  readonly #machine: string;
  /** Keys of what was timed since this question began, where it wants new times. */
  readonly #fresh = new Set<string>();

  /** @param version Gradwire's */
  constructor(file: string, version: string) {
    this.#file = file;
    const [cpu] = os.cpus();
    this.#machine = `${version}, Node ${process.version}, ${cpu?.model ?? os.arch()}`;
  }

  /**
   * Finds the times of a plan's buckets, or measures them.
   * @param anew whether times of before this call of `begin` do not count
   */
  async of(buckets: readonly Bucket[], anew: boolean): Promise<Rehearsal> {
    const key = keyOf(buckets);
    const known = this.#read().get(key);
    if (known !== undefined && (!anew || this.#fresh.has(key))) return known;
    const times = await rehearse(buckets);
    this.#fresh.add(key);
    // Read again, because another process may have added to it meanwhile.
    const all = this.#read();
    all.delete(key);
    all.set(key, times);
    this.#write(all);
    return times;
  }

  /** Begins a question. */
  begin(): void {
    this.#fresh.clear();
  }

  #read(): Map<string, Rehearsal> {
    try {
      const raw: unknown = JSON.parse(readFileSync(this.#file, 'utf8'));
      const { machine, rehearsals } = fileSchema.parse(raw);
      return new Map(machine === this.#machine ? Object.entries(rehearsals) : []);
    } catch {
      return new Map();
    }
  }

  #write(all: ReadonlyMap<string, Rehearsal>): void {
    const rehearsals = Object.fromEntries([...all].slice(-MOST_KEPT));
    const text = JSON.stringify({ machine: this.#machine, rehearsals });
    try {
      writeDurablySync(this.#file, text);
    } catch {
      // On a full disk, or in a home of somebody else's: they are timed again.
    }
  }
}

/** Equal for buckets whose methods, parameters and tensors are equal. */
function keyOf(buckets: readonly Bucket[]): string {
  const subject = buckets.map(({ length, policy, runs, tensors }) => [
    length,
    policy.method.id,
    policy.parameters,
    runs.map((run) => [run.flat, run.start, run.length]),
    tensors.map(({ shape }) => shape),
  ]);
  return createHash('sha256')
    .update(JSON.stringify(subject))
    .digest('hex')
    .slice(0, 32);
}
