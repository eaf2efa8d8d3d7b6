/**
 * Messages between a rank and the process that computes its model with PyTorch (python/gradwire,
 * `gradwire.compute`): JSON behind a length of four bytes, as a program's. Numbers in bulk are in
 * shared memory.
 */
import { z } from 'zod';
import { checkedMessage } from '../../shared/protocol/checked-message.ts';
import type { FrameDecoder } from '../../shared/protocol/frame.ts';
import { jsonDecoder } from '../bridge/json-frames.ts';

export const COMPUTE_VERSION = 2;

const count = z.int().min(0);
const text = z.string().max(10_000);

const fromTorchSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('hello'),
    version: count,
    python: text,
    /** PyTorch's version; absent if it cannot be used. */
    torch: text.optional(),
    /** The reason why it cannot. */
    why: text.optional(),
    gpus: count.default(0),
  }),
  /** The device's name, once PyTorch has opened it. */
  z.object({ type: z.literal('using'), name: text }),
  /** Elements of the gradient from here on are there. */
  z.object({ type: z.literal('ready'), from: count }),
  z.object({ type: z.literal('done') }),
]);
export type FromTorch = Readonly<z.infer<typeof fromTorchSchema>>;

/** An array in the desk: memory that both sides share. */
export interface Place {
  readonly type: 'f32' | 'i32';
  readonly shape: readonly number[];
  /** The first byte. */
  readonly offset: number;
}

export interface SlotPlaces {
  readonly fields: Readonly<Record<string, Place>>;
  /** Rows of the tables that the samples use, and their gradients. */
  readonly rows: readonly Place[];
  readonly rowGradients: readonly Place[];
  /** The losses of the samples, then the metric's sums. */
  readonly measures: readonly Place[];
}

interface Mapped {
  readonly path: string;
  readonly bytes: number;
}

/** Whether weights have changed since the last request. */
interface Fresh {
  readonly isFresh: boolean;
}

export interface OpenRequest {
  readonly type: 'open';
  readonly model: string;
  /** Predictions of a batch, of whose losses the mean is differentiated. */
  readonly predictions: number;
  readonly tensors: readonly {
    readonly name: string;
    readonly shape: readonly number[];
    readonly isTable: boolean;
  }[];
  readonly memory: Readonly<Record<'desk' | 'weights' | 'gradient', Mapped>>;
  readonly slots: Readonly<Record<SlotName, SlotPlaces>>;
  readonly statistics: readonly Place[];
  /** One stage of a pipeline; undefined: the whole model. */
  readonly stage?: StageEntry | undefined;
}

interface StageEntry {
  readonly layers: readonly string[];
  /** Whether it is the last, which has losses. */
  readonly hasHead: boolean;
  /** Samples of a micro-batch. */
  readonly samples: number;
  /** Values that the stage before gives, and their gradient; undefined in the first stage. */
  readonly before?: Place;
  /** Values that this stage gives, and their gradient; undefined in the last one. */
  readonly after?: Place;
  /** Tensors of other stages. */
  readonly borrowed: readonly {
    readonly name: string;
    readonly values: Place;
    readonly gradient: Place;
  }[];
}

export type SlotName = 'train' | 'test' | 'statistics';

export type ComputeRequest =
  | ({
      readonly type: 'gradient';
      /** Samples of the batch, the first of its slot. */
      readonly rows: number;
      /** Whether the rank wants to know as the gradient grows. */
      readonly reports: boolean;
    } & Fresh)
  /** `isGiven`: whether the desk has statistics to evaluate with. */
  | ({ readonly type: 'score'; readonly isGiven: boolean } & Fresh)
  | ({ readonly type: 'statistics' } & Fresh)
  | (StageRequest & Fresh);

export type StageRequest =
  | {
      readonly type: 'backward' | 'forward' | 'losses';
      readonly microBatch: number;
    }
  /** Passes the test samples; the last stage measures them. */
  | { readonly type: 'evaluate' | 'finish' };

export type ToTorch =
  | { readonly type: 'use'; readonly device: string; readonly threads: number }
  | OpenRequest
  | ComputeRequest;

/** Decodes what the process sends. It throws at what is no message (`BRIDGE_INVALID`). */
export const torchDecoder = (rank: number): FrameDecoder<FromTorch> =>
  jsonDecoder((raw) =>
    checkedMessage(fromTorchSchema, raw, {
      code: 'BRIDGE_INVALID',
      what: 'message of PyTorch’s process',
      rank,
    }),
  );
