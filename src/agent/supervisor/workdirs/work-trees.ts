/**
 * Copies of programs' directories in a home. `files/SHA256` are contents, `trees/NAME` whole
 * directories, copied from them: a program may change its own directory, never what another run
 * gets. Whatever was cut short has a name that begins with a dot and counts for nothing.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { failure } from '../../../shared/errors/errors.ts';
import {
  isLink,
  type FileContent,
  type TreeEntry,
} from '../../../shared/protocol/work-tree.ts';
import { formatBytes } from '../../../shared/words/units.ts';
import { FileIntake } from './file-intake.ts';
import { treeName } from './tree-name.ts';
import { damaged, noSpace, notWritable } from './work-errors.ts';

export class WorkTrees {
  readonly #directory: string;
  readonly #files: string;
  readonly #trees: string;

  /** @param directory is made when the first file comes */
  constructor(directory: string) {
    this.#directory = directory;
    this.#files = path.join(directory, 'files');
    this.#trees = path.join(directory, 'trees');
  }

  /** The directory of a tree. @throws GradwireError `REQUEST_INVALID`: it is not there */
  directoryOf(tree: string): string {
    const directory = path.join(this.#trees, tree);
    if (existsSync(directory)) return directory;
    throw failure('REQUEST_INVALID', `prepare: there is no tree ${tree}`, {
      next: 'Launch again: the directory is copied anew.',
    });
  }

  /**
   * Contents that are to be brought before a tree is made of all of these.
   * @throws GradwireError `DISK_FULL`: there is no space for them and the tree
   */
  missing(files: readonly FileContent[]): readonly string[] {
    const missing = files.filter(({ sha256, bytes }) => {
      const found = statSync(this.#fileOf(sha256), { throwIfNoEntry: false });
      return found?.size !== bytes;
    });
    // Without them there is no such tree either: it takes the space once more.
    if (missing.length > 0) this.#requireSpace(bytesOf(missing) + bytesOf(files));
    return missing.map(({ sha256 }) => sha256);
  }

  /** Takes the contents that one client brings; what is not complete is dropped with the client. */
  intake(): FileIntake {
    return new FileIntake(this.#files, (sha256) => this.#fileOf(sha256));
  }

  /**
   * Makes a tree, whole or not at all.
   * @returns its name
   * @throws GradwireError `WORKDIR_FILE_DAMAGED`, `DISK_FULL`, `OUTPUT_NOT_WRITABLE`
   */
  async make(entries: readonly TreeEntry[]): Promise<string> {
    const tree = treeName(entries);
    const directory = path.join(this.#trees, tree);
    if (existsSync(directory)) return tree;
    const draft = path.join(this.#trees, draftOf(tree));
    try {
      await mkdir(draft, PRIVATE);
      for (const entry of entries) await this.#add(entry, draft);
      await rename(draft, directory);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      // Another client may have made it meanwhile.
      if (!existsSync(directory)) throw notWritable(this.#trees, error);
    }
    return tree;
  }

  /** Removes what was cut short. Only the owner of the home may, before it lets clients in. */
  tidy(): void {
    for (const folder of [this.#files, this.#trees]) {
      if (!existsSync(folder)) continue;
      for (const name of readdirSync(folder)) {
        if (!name.startsWith('.')) continue;
        rmSync(path.join(folder, name), { recursive: true, force: true });
      }
    }
  }

  #requireSpace(needed: number): void {
    let place = this.#directory;
    while (!existsSync(place)) place = path.dirname(place);
    const { bavail, bsize } = statfsSync(place);
    const free = bavail * bsize;
    if (needed <= free) return;
    throw noSpace(
      this.#directory,
      `it takes ${formatBytes(needed)}, and ${formatBytes(free)} are free`,
    );
  }

  async #add(entry: TreeEntry, draft: string): Promise<void> {
    const place = path.join(draft, entry.path);
    await mkdir(path.dirname(place), PRIVATE);
    if (isLink(entry)) {
      await symlink(entry.target, place);
      return;
    }
    const file = this.#fileOf(entry.sha256);
    const content = existsSync(file) ? await readFile(file) : undefined;
    if (content === undefined || sha256Of(content) !== entry.sha256) {
      await rm(file, { force: true });
      throw damaged(entry.path);
    }
    const mode = entry.executable ? 0o700 : 0o600;
    await writeFile(place, content, { mode, flag: 'wx' });
  }

  #fileOf(sha256: string): string {
    return path.join(this.#files, sha256);
  }
}

const PRIVATE = { recursive: true, mode: 0o700 } as const;

const bytesOf = (files: readonly FileContent[]): number =>
  files.reduce((sum, { bytes }) => sum + bytes, 0);

const sha256Of = (content: Uint8Array): string =>
  createHash('sha256').update(content).digest('hex');

/** A name for what is not complete yet. */
const draftOf = (name: string): string => `.${name}.${randomBytes(6).toString('hex')}`;
