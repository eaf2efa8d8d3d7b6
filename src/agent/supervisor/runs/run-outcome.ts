/** Facts about the end of a run on this node, known before its last record is written. */
import { failure, type ErrorData } from '../../../shared/errors/errors.ts';
import type { DoneRecord } from '../../../shared/records/done.ts';
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import { stoppedWithNodes } from '../ranks/run-errors.ts';

export class RunOutcome {
  readonly #node: string;
  readonly #hasFirstRank: boolean;
  #done: DoneRecord | undefined;
  #finished = false;
  #stopping = false;
  #nodesEnd: ErrorData | undefined;

  /** @param ranks those on this node */
  constructor(node: string, ranks: readonly number[]) {
    this.#node = node;
    this.#hasFirstRank = ranks.includes(0);
  }

  /** Whether rank 0 has reported the result. */
  get isDone(): boolean {
    return this.#done !== undefined;
  }

  /** Whether somebody asked it to end. */
  get isStopping(): boolean {
    return this.#stopping;
  }

  /** Reason that the ranks were asked to end, if their nodes are taken back. */
  get nodesEnd(): ErrorData | undefined {
    return this.#nodesEnd;
  }

  /** Takes the result if rank 0 has reported it. */
  recorded(records: readonly RunRecord[]): void {
    this.#done = records.find((record) => record.type === 'done') ?? this.#done;
  }

  stopped(): void {
    this.#stopping = true;
  }

  nodesEnding(reason: ErrorData): void {
    this.#nodesEnd = reason;
  }

  /** @param finished whether each rank has reported that it has finished */
  ranksGone(finished: boolean): void {
    this.#finished = finished;
  }

  /** Forgets the end of ranks that will be started again. */
  interrupted(): void {
    this.#done = undefined;
    this.#nodesEnd = undefined;
  }

  /**
   * The last record of this node: the run's result if rank 0 is here, otherwise that all ranks have
   * finished.
   */
  get result(): RunRecord | undefined {
    if (this.#hasFirstRank) return this.#done;
    if (!this.#finished) return undefined;
    return { type: 'finished', at: Date.now(), node: this.#node };
  }

  /** Reason that a run whose ranks have all finished is incomplete. */
  get shortfall(): ErrorData | undefined {
    const { result } = this;
    const isComplete = result?.type === 'done' && result.reason === 'completed';
    if (this.#nodesEnd !== undefined && !isComplete && !this.#stopping) {
      return this.#nodesEnd;
    }
    if (result !== undefined) return undefined;
    if (this.#nodesEnd !== undefined && this.#stopping) return stoppedWithNodes();
    return failure('RUN_INCOMPLETE', 'all ranks ended without a result').toData();
  }
}
