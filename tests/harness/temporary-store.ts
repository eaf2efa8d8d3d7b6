/** A run store in a directory of its own, which is removed as the store is closed. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { temporaryDirectory } from '../../src/disk/temporary-directory.ts';
import { RunStore } from '../../src/main/store/run-store.ts';

export class TemporaryStore {
  readonly #directory = temporaryDirectory('gradwire-store-');
  readonly store = RunStore.open(path.join(this.#directory, 'gradwire.db'));

  close(): void {
    this.store.close();
    rmSync(this.#directory, { recursive: true });
  }
}
