/**
 * The state of the transport's waiting, reported to the observer whenever it changes: the oldest
 * receive decides, then the oldest unflushed send. Allocation-free: the states are created once per
 * rank.
 */
import type { PendingOperation, PendingReceive } from './pending-operation.ts';
import type { TransportObserver } from './transport.ts';

type State = Parameters<TransportObserver['waiting']>[0];

const NO_HEADER: { readonly stream: number | undefined } = { stream: undefined };

export class WaitingState {
  readonly #observer: TransportObserver | undefined;
  readonly #nothing: State = { kind: 'nothing' };
  readonly #rest: readonly State[];
  readonly #first: readonly State[];
  readonly #drain: readonly State[];
  #current: State = this.#nothing;
  #stream: number | undefined;

  constructor(size: number, observer: TransportObserver | undefined) {
    this.#observer = observer;
    const perRank = (kind: 'rest' | 'first' | 'drain'): readonly State[] =>
      Array.from({ length: size }, (_, rank) => ({ kind, rank }));
    this.#rest = perRank('rest');
    this.#first = perRank('first');
    this.#drain = perRank('drain');
  }

  update(
    receive: PendingReceive | undefined,
    send: PendingOperation | undefined,
  ): void {
    if (this.#observer === undefined) return;
    let state = this.#nothing;
    if (receive !== undefined) {
      state = (receive.begun ? this.#rest : this.#first)[receive.rank]!;
    } else if (send !== undefined) {
      state = this.#drain[send.rank]!;
    }
    const { stream } = (receive ?? send)?.header ?? NO_HEADER;
    const isSame = state === this.#current;
    if (isSame && stream === this.#stream) return;
    this.#current = state;
    this.#stream = stream;
    this.#observer.waiting(state, stream);
  }
}
