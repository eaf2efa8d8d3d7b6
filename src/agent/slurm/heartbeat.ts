/**
 * A supervisor's sign of life to the job that holds its nodes: a number in a file, which the
 * job's script reads (`holder-script.ts`).
 */
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export class Heartbeat {
  readonly file: string;
  #beats = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param folder in a home that the compute nodes share */
  constructor(folder: string) {
    // For one job only: a later supervisor must not keep it alive.
    this.file = path.join(folder, `slurm-alive-${randomBytes(4).toString('hex')}`);
  }

  /** Beats ten times in that time. */
  start(patienceSeconds: number): void {
    this.#beat();
    this.#timer = setInterval(
      () => {
        this.#beat();
      },
      (patienceSeconds * 1000) / 10,
    );
  }

  stop(): void {
    clearInterval(this.#timer);
    rmSync(this.file, { force: true });
  }

  #beat(): void {
    try {
      writeFileSync(this.file, `${++this.#beats}\n`, { mode: 0o600 });
    } catch {
      // The disk may be full only for now.
    }
  }
}
