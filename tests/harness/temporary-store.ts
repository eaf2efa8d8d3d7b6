/** A run store in a directory of its own, which is removed as the store is closed. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { RunStore } from '../../src/main/store/run-store.ts';

export class TemporaryStore {
  readonly #directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-store-'));
  readonly store = RunStore.open(path.join(this.#directory, 'gradwire.db'));

  close(): void {
    this.store.close();
    rmSync(this.#directory, { recursive: true });
  }
}
