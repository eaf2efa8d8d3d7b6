/** Contents of files that one client brings in parts; what is not complete is dropped with the client. */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { inputError } from '../../../shared/errors/errors.ts';
import type { FilePiece } from '../../../shared/protocol/work-tree.ts';
import { damaged, notWritable } from './work-errors.ts';

interface Partial {
  readonly draft: string;
  readonly descriptor: number;
  readonly hash: ReturnType<typeof createHash>;
  written: number;
}

export class FileIntake {
  readonly #directory: string;
  readonly #fileOf: (sha256: string) => string;
  readonly #partial = new Map<string, Partial>();

  constructor(directory: string, fileOf: (sha256: string) => string) {
    this.#directory = directory;
    this.#fileOf = fileOf;
  }

  /**
   * @throws GradwireError `WORKDIR_FILE_DAMAGED`: the content is another than its name says;
   * `REQUEST_INVALID`: parts out of order; `DISK_FULL`, `OUTPUT_NOT_WRITABLE`
   */
  put(pieces: readonly FilePiece[]): void {
    for (const piece of pieces) {
      try {
        this.#add(piece);
      } catch (error) {
        this.#drop(piece.sha256);
        throw notWritable(this.#directory, error);
      }
    }
  }

  close(): void {
    for (const sha256 of [...this.#partial.keys()]) this.#drop(sha256);
  }

  #add({ sha256, bytes, offset, part }: FilePiece): void {
    const partial = this.#partial.get(sha256) ?? this.#begin(sha256);
    if (offset !== partial.written || offset + part.length > bytes) {
      throw inputError(
        'REQUEST_INVALID',
        `putFiles: ${part.length} bytes at ${offset} of ${bytes}, after ${partial.written}`,
      );
    }
    let done = 0;
    while (done < part.length) done += writeSync(partial.descriptor, part, done);
    partial.hash.update(part);
    partial.written += part.length;
    if (partial.written < bytes) return;
    if (partial.hash.digest('hex') !== sha256) throw damaged(sha256);
    this.#partial.delete(sha256);
    closeSync(partial.descriptor);
    renameSync(partial.draft, this.#fileOf(sha256));
  }

  #begin(sha256: string): Partial {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const name = `.${sha256}.${randomBytes(6).toString('hex')}`;
    const draft = path.join(this.#directory, name);
    const partial: Partial = {
      draft,
      descriptor: openSync(draft, 'wx', 0o600),
      hash: createHash('sha256'),
      written: 0,
    };
    this.#partial.set(sha256, partial);
    return partial;
  }

  #drop(sha256: string): void {
    const partial = this.#partial.get(sha256);
    if (partial === undefined) return;
    this.#partial.delete(sha256);
    closeSync(partial.descriptor);
    rmSync(partial.draft, { force: true });
  }
}
