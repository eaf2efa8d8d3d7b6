/** A copy of the sources in which something is added as docs/extending.md says. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.join(import.meta.dirname, '../../..');

export class CopiedSources implements Disposable {
  readonly #directory: string;

  constructor() {
    this.#directory = mkdtempSync(path.join(tmpdir(), 'gradwire-extending-'));
    for (const name of ['src', 'package.json', 'tsconfig.json', 'tsconfig.base.json']) {
      cpSync(path.join(root, name), this.#place(name), { recursive: true });
    }
    symlinkSync(path.join(root, 'node_modules'), this.#place('node_modules'));
  }

  /** @param file from the root of the sources */
  write(file: string, text: string): void {
    writeFileSync(this.#place(file), text);
  }

  /** Writes lines before others that the file has once. */
  insert(file: string, lines: string, before: string): void {
    const text = readFileSync(this.#place(file), 'utf8');
    if (text.split(before).length !== 2) {
      throw new Error(`${file} does not have this once: ${before}`);
    }
    this.write(
      file,
      text.replace(before, () => lines + before),
    );
  }

  /** The compiler's findings; empty if there are none. */
  compiled(): string {
    const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(
      process.execPath,
      [compiler, '-p', 'tsconfig.json', '--noEmit'],
      { cwd: this.#directory, encoding: 'utf8' },
    );
    return stdout;
  }

  /**
   * Runs statements in the copy, and returns what they assign to `told`.
   * @param imports by path from `src`, such as `{ readRow } from './shared/rows.ts'`
   */
  told(imports: readonly string[], statements: string): unknown {
    const lines = imports.map((line) => `import ${line};`).join('\n');
    const script = this.#place('src/try.ts');
    writeFileSync(
      script,
      `${lines}\n${statements}\nconsole.log(JSON.stringify(told));\n`,
    );
    try {
      return JSON.parse(execFileSync(process.execPath, [script], { encoding: 'utf8' }));
    } finally {
      rmSync(script);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #place(file: string): string {
    return path.join(this.#directory, file);
  }
}
