/**
 * A worker's orders to a server, and the server's answers, without the numbers themselves: a
 * few f64 each. Orders of one worker are carried out one after the other.
 */

/** Forms in which a bucket's share travels. */
export const FORMS = ['dense', 'sparse', 'whole'] as const;
/**
 * `dense`: the share's f32 values. `sparse`: those of its entries' indices, counted from the
 * start of the bucket, then those of their values. `whole`: the payload of the whole bucket,
 * which only its method can read.
 */
export type Form = (typeof FORMS)[number];

export type Order =
  | {
      readonly kind: 'share';
      readonly iteration: number;
      readonly bucket: number;
      readonly form: Form;
      /** Bytes that follow; for a sparse push, of the indices and of the values alike. */
      readonly bytes: number;
      /** Learning rate η. */
      readonly lr: number;
    }
  /** The residual of an ended method follows, for the server's whole range. */
  | { readonly kind: 'leftover'; readonly lr: number }
  /**
   * An iteration has been pushed completely. May another one begin, and with which weights?
   * Asked in the same message, so that no faster rank's push comes between.
   */
  | {
      readonly kind: 'pushed';
      readonly iteration: number;
      /** Whether all ranks should meet, because there is something to agree on. */
      readonly wantsMeeting: boolean;
      /** The iteration to begin next; default: no request. */
      readonly asks?: number | undefined;
    }
  /** May this iteration begin, and with which weights? */
  | { readonly kind: 'ask'; readonly iteration: number }
  /** Nothing more follows until all have met. */
  | { readonly kind: 'meet' };

export interface Reply {
  /** All meet before the requested iteration; otherwise its weights follow. */
  readonly meets: boolean;
  /** The weights have all pushes of the iterations before this one. */
  readonly version: number;
}

const KINDS = ['share', 'leftover', 'pushed', 'ask', 'meet'] as const;
const NUMBERS = 6;
/** No iteration. */
const NONE = -1;
export const ORDER_BYTES = 8 * NUMBERS;
export const REPLY_BYTES = 16;

export function encodeOrder(order: Order): Uint8Array {
  const numbers = new Float64Array(NUMBERS);
  numbers[0] = KINDS.indexOf(order.kind);
  switch (order.kind) {
    case 'share':
      numbers[1] = order.iteration;
      numbers[2] = order.bucket;
      numbers[3] = FORMS.indexOf(order.form);
      numbers[4] = order.bytes;
      numbers[5] = order.lr;
      break;
    case 'leftover':
      numbers[5] = order.lr;
      break;
    case 'pushed':
      numbers[1] = order.iteration;
      numbers[2] = Number(order.wantsMeeting);
      numbers[3] = order.asks ?? NONE;
      break;
    case 'ask':
      numbers[1] = order.iteration;
      break;
    case 'meet':
      break;
    default:
      order satisfies never;
  }
  return new Uint8Array(numbers.buffer);
}

/** @param bytes aligned as f64 */
export function decodeOrder({ buffer, byteOffset }: Uint8Array): Order {
  const numbers = new Float64Array(buffer, byteOffset, NUMBERS);
  const [code = -1, iteration = 0, second = 0, third = 0, bytes = 0, lr = 0] = numbers;
  const kind = KINDS[code];
  switch (kind) {
    case 'share': {
      return { kind, iteration, bucket: second, form: FORMS[third]!, bytes, lr };
    }
    case 'leftover':
      return { kind, lr };
    case 'pushed': {
      const pushed = { kind, iteration, wantsMeeting: second === 1 };
      return third === NONE ? pushed : { ...pushed, asks: third };
    }
    case 'ask':
      return { kind, iteration };
    case 'meet':
      return { kind };
    case undefined:
      throw new Error(`internal: an order of kind ${code}`);
    default:
      return kind satisfies never;
  }
}

export const encodeReply = ({ meets, version }: Reply): Uint8Array =>
  new Uint8Array(Float64Array.of(Number(meets), version).buffer);

/** @param bytes aligned as f64 */
export function decodeReply({ buffer, byteOffset }: Uint8Array): Reply {
  const [meets, version] = new Float64Array(buffer, byteOffset, 2);
  return { meets: meets === 1, version: version! };
}
