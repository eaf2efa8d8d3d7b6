/**
 * Commands of a Slurm that answers late, wrongly or not at all, which a real one does only under
 * a load that a test cannot make. Each is a shell script of the test's own; what they are
 * called with is kept.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from '../../harness/processes.ts';

/** A job that squeue does not show any longer once it is cancelled. */
export const shown = (lines: string): string => `[ -e "$DIR/gone" ] || { ${lines}; }`;
/** A cancellation after which the job is no longer shown. */
export const GONE = 'touch "$DIR/gone"';

type Command = 'sbatch' | 'squeue' | 'scontrol' | 'scancel' | 'sleep';

export class FakeSlurm implements Disposable {
  readonly directory = mkdtempSync(path.join(tmpdir(), 'gradwire-fake-slurm-'));
  readonly #path = process.env.PATH;
  readonly #calls = path.join(this.directory, 'calls');

  /** @param scripts the body of each command; `$DIR` is a directory of their own */
  constructor(scripts: Partial<Readonly<Record<Command, string>>>) {
    writeFileSync(this.#calls, '');
    for (const [name, body] of Object.entries(scripts)) {
      const script = `#!/bin/sh
DIR='${this.directory}'
printf '%s\\n' "${name} $*" >> "$DIR/calls"
${body}
`;
      writeFileSync(path.join(this.directory, name), script, { mode: 0o755 });
    }
    process.env.PATH = `${this.directory}:${this.#path ?? ''}`;
  }

  /** The lines with which a command was called. */
  calls(command: Command): readonly string[] {
    return readFileSync(this.#calls, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith(`${command} `));
  }

  called(command: Command, what: RegExp): Promise<unknown> {
    return until(
      () => this.calls(command),
      (lines) => lines.some((line) => what.test(line)),
      `${command} ${String(what)}`,
    );
  }

  [Symbol.dispose](): void {
    process.env.PATH = this.#path;
    rmSync(this.directory, { recursive: true, force: true });
  }
}
