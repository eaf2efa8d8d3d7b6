/** The payloads of this rank in the last exchange of each bucket: their bytes, and what carried them. */
import { parameterServer } from '../collectives/parameter-server.ts';
import { payloadRegion } from '../collectives/payload-region.ts';
import { largestOf, type Bucket } from '../plan/buckets.ts';
import type { CommunicationRequest } from '../methods/method.ts';

/** The collective that carried the most bytes of a bucket in an exchange. */
interface Carried {
  readonly bytes: number;
  readonly by: string;
}

export class CarriedPayloads {
  readonly #all: readonly Bucket[];
  /** Buckets of the last exchange: all, unless models step in turns. */
  #due: readonly Bucket[];
  readonly #bytes: number[];
  readonly #carried: (Carried | undefined)[] = [];
  /** Whether servers received the payloads instead of the other ranks. */
  #served = false;

  constructor(buckets: readonly Bucket[]) {
    this.#all = buckets;
    this.#due = buckets;
    this.#bytes = buckets.map(() => 0);
  }

  /** An exchange of some buckets begins. */
  begin(due: readonly Bucket[], served: boolean): void {
    this.#due = due;
    this.#served = served;
    for (const { index } of due) {
      this.#bytes[index] = 0;
      this.#carried[index] = undefined;
    }
  }

  /** Adds a payload of a bucket. */
  add(index: number, { payload }: CommunicationRequest): void {
    this.#bytes[index]! += payloadRegion(payload).bytes;
  }

  /** @param by the collective that carries a payload to the other ranks; undefined: a gather does */
  carry(
    index: number,
    { operation, payload: { data } }: CommunicationRequest,
    by = 'allgather',
  ): void {
    if (operation === 'broadcast') return;
    const most = this.#carried[index]?.bytes ?? 0;
    if (data.bytes >= most) this.#carried[index] = { bytes: data.bytes, by };
  }

  /** Bytes of a bucket's payloads. */
  bytesOf(index: number): number {
    return this.#bytes[index]!;
  }

  /** Bytes of all payloads of the last exchange. */
  get bytes(): number {
    return this.#due.reduce((sum, { index }) => sum + this.bytesOf(index), 0);
  }

  /** The collective that carried most of a bucket. */
  by(index: number): string {
    return (
      this.#carried[index]?.by ?? (this.#served ? parameterServer.id : 'allgather')
    );
  }

  /** The collective that carried the largest bucket in the last exchange. */
  get byLargest(): string {
    const some = this.#due.length === 0 ? this.#all : this.#due;
    return this.by(largestOf(some).index);
  }
}
