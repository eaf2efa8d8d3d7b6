/** Orders and reports between `allreduceFiles` and its rank processes. */
import type { EmulatedNetwork } from '../../shared/emulated-network.ts';
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import type { Quantization } from '../../shared/quantization.ts';
import type { ReduceOperation } from '../kernels/reduction.ts';
import type { ValueType } from '../memory/value-type.ts';
import type { TransportKind } from '../transport/transport-choice.ts';

export type ToRank =
  | {
      readonly type: 'load';
      readonly rank: number;
      readonly file: string;
      readonly values: ValueType;
    }
  | {
      readonly type: 'reduce';
      readonly addresses: readonly RankAddress[];
      readonly run: string;
      readonly secret: Uint8Array;
      readonly collective: string;
      /** The form in which the vector is sent: dense, or as entries. */
      readonly kind: 'dense' | 'sparse';
      readonly operation: ReduceOperation;
      readonly transport: TransportKind | 'auto';
      readonly encrypt: boolean;
      readonly network?: EmulatedNetwork | undefined;
      readonly places?: readonly number[] | undefined;
      readonly quantization?: Quantization | undefined;
      readonly servers?: number | undefined;
      /** Seed of random rounding. */
      readonly seed: number;
    }
  | { readonly type: 'write'; readonly file: string };

/** The vector is in memory and the rank listens. */
export interface Loaded {
  readonly type: 'loaded';
  readonly address: RankAddress;
  /** n, elements. */
  readonly length: number;
  /** Non-zero elements. */
  readonly nnz: number;
}

export interface Reduced {
  readonly type: 'reduced';
  /** Time of the collective alone. */
  readonly milliseconds: number;
  /** Bytes of the collective on the wire, framing included. */
  readonly wireSent: number;
  readonly wireReceived: number;
  /** The choice of `auto`. */
  readonly transport: TransportKind;
  readonly form: 'dense' | 'sparse';
  /** Non-zero elements of the result. */
  readonly nnz: number;
}

export interface Written {
  readonly type: 'written';
}

export type FromRank = Loaded | Reduced | Written;
