/** The progress of a run whose supervisor is gone, from its journal, record by record. */
import { endsJournal } from '../../../shared/records/journal-entry.ts';
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import type { TensorsRecord } from '../../../shared/records/tensors.ts';
import { RecordAdmission } from '../journal/record-admission.ts';
import type { RestoredProgress } from './run-options.ts';

type Progress = Pick<
  RestoredProgress,
  'admission' | 'iterations' | 'fences' | 'interrupted' | 'tensors'
>;

export class SeenProgress {
  readonly #admission = new RecordAdmission();
  readonly #fences: (readonly [epoch: number, fence: number])[] = [];
  #iterations = 0;
  #started = false;
  #tensors: TensorsRecord | undefined;
  #last: RunRecord | undefined;

  note(record: RunRecord): void {
    this.#admission.recall(record);
    this.#last = record;
    if (record.type === 'iteration') {
      this.#iterations = Math.max(this.#iterations, record.iteration + 1);
    }
    if (record.type === 'switch') this.#fences.push([record.epoch, record.fence]);
    if (record.type === 'started') this.#started = true;
    if (record.type === 'tensors') this.#tensors = record;
  }

  /** Whether it had begun but has not ended. */
  get mayGoOn(): boolean {
    return this.#started && this.#last !== undefined && !endsJournal(this.#last);
  }

  get progress(): Progress {
    return {
      admission: this.#admission,
      iterations: this.#iterations,
      fences: this.#fences,
      tensors: this.#tensors,
      interrupted: this.#last?.type === 'interrupted',
    };
  }
}
