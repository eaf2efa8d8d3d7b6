/**
 * Sends and receives that have been posted and not yet ended, in the order in which they
 * were posted: a doubly linked list, O(1) to append and remove. The oldest is the one
 * whose deadline comes first and the one that the engine waits for.
 */
import type { GradwireError } from '../../shared/errors/errors.ts';
import type { FrameHeader } from './message-frame.ts';
import type { MessageHeader } from './transport.ts';

export abstract class PendingOperation {
  readonly rank: number;
  readonly header: MessageHeader;
  /** Tick of the transport's deadline timer at which it was posted. */
  postedAt = 0;
  previous: PendingOperation | undefined;
  next: PendingOperation | undefined;
  #ended = false;

  constructor(rank: number, header: MessageHeader) {
    this.rank = rank;
    this.header = header;
  }

  /** Whether it has succeeded or failed; both are final. */
  get ended(): boolean {
    return this.#ended;
  }

  fail(error: GradwireError): void {
    this.#ended = true;
    this.reject(error);
  }

  protected end(): void {
    this.#ended = true;
  }

  protected abstract reject(error: GradwireError): void;
}

/** Resolves when the data may be reused. */
export class PendingSend extends PendingOperation {
  readonly #result = Promise.withResolvers<undefined>();

  get promise(): Promise<undefined> {
    return this.#result.promise;
  }

  complete(): void {
    this.end();
    this.#result.resolve(undefined);
  }

  protected reject(error: GradwireError): void {
    this.#result.reject(error);
  }
}

/** Resolves with the message's length. */
export class PendingReceive extends PendingOperation {
  readonly #result = Promise.withResolvers<number>();
  /** The length that the header must announce; undefined: any up to `maximum`. */
  readonly exact: number | undefined;
  readonly maximum: number;
  readonly #place: (length: number) => Uint8Array;
  #into: Uint8Array | undefined;
  #received = 0;

  constructor(
    rank: number,
    header: MessageHeader,
    exact: number | undefined,
    maximum: number,
    place: (length: number) => Uint8Array,
  ) {
    super(rank, header);
    this.exact = exact;
    this.maximum = maximum;
    this.#place = place;
  }

  /** Whether the message's header has arrived. */
  get begun(): boolean {
    return this.#into !== undefined;
  }

  get promise(): Promise<number> {
    return this.#result.promise;
  }

  /** Bytes received so far. */
  get received(): number {
    return this.#received;
  }

  begin(frame: FrameHeader): void {
    const into = this.#place(frame.length);
    if (into.length < frame.length) {
      throw new Error(
        `internal: ${into.length} bytes placed for a message of ${frame.length}`,
      );
    }
    this.#into = into;
  }

  /**
   * Memory for the next bytes of the message, at most `missing`, which are all that
   * remain.
   */
  room(missing: number): Uint8Array {
    return this.#into!.subarray(this.#received, this.#received + missing);
  }

  /** Counts this many bytes that have been put into the room. */
  filled(bytes: number): void {
    this.#received += bytes;
  }

  take(piece: Uint8Array): void {
    this.#into!.set(piece, this.#received);
    this.#received += piece.length;
  }

  complete(): void {
    this.end();
    this.#result.resolve(this.#received);
  }

  protected reject(error: GradwireError): void {
    this.#result.reject(error);
  }
}

export class PendingList<Operation extends PendingOperation> {
  #first: Operation | undefined;
  #last: Operation | undefined;

  get first(): Operation | undefined {
    return this.#first;
  }

  append(operation: Operation): void {
    operation.previous = this.#last;
    if (this.#last === undefined) this.#first = operation;
    else this.#last.next = operation;
    this.#last = operation;
  }

  remove(operation: Operation): void {
    const { previous, next } = operation;
    if (previous === undefined) this.#first = next as Operation | undefined;
    else previous.next = next;
    if (next === undefined) this.#last = previous as Operation | undefined;
    else next.previous = previous;
    operation.previous = undefined;
    operation.next = undefined;
  }

  /** Empties the list; yields its operations, oldest first. */
  *drain(): Generator<Operation> {
    while (this.#first !== undefined) {
      const operation = this.#first;
      this.remove(operation);
      yield operation;
    }
  }

  /** Whether any operation with this rank is pending. O(length): for failures. */
  concerns(rank: number): boolean {
    for (
      let operation: PendingOperation | undefined = this.#first;
      operation !== undefined;
      operation = operation.next
    ) {
      if (operation.rank === rank) return true;
    }
    return false;
  }
}
