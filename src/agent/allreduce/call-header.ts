/**
 * Numbers in the headers of a group's messages, by which ranks notice that they made different
 * calls: all that decides what a call computes, beside its lengths. A call that leaves out what
 * can be left out has the numbers of a run's exchange.
 */
import { deltaByBytes } from '../collectives/best-delta.ts';
import type { CollectiveSettings } from '../collectives/collective.ts';
import type { CallHeader } from '../collectives/communicator.ts';
import { DEFAULT_SERVERS } from '../collectives/server-ranks.ts';
import type { ReduceOperation } from '../kernels/reduction.ts';
import type { Payload } from '../memory/payload.ts';
import { valueBytesOf, type HalfType, type ValueType } from '../memory/value-type.ts';

/** A payload's kind in the headers; never renumbered. */
const KIND_CODES = { dense: 1, sparse: 2, quantized: 3, scalars: 4 } as const;
/** Headers of f64 have their own numbers: f32 on the other side is a mismatch. */
const F64_CODES = 16;
/** Likewise those of dense payloads of 16 bits. */
const HALF_CODES: Readonly<Record<HalfType, number>> = { bfloat16: 32, binary16: 48 };
/** Likewise those of each operation. */
const OPERATION_CODES: Readonly<Record<ReduceOperation, number>> = {
  sum: 0,
  min: 64,
  max: 128,
  prod: 192,
};
/** Likewise those of averages. */
const AVERAGES_CODES = 256;

/** A call of a group, beside the collective that carries it out. */
export interface GroupCall extends CollectiveSettings {
  readonly kind: Payload['kind'];
  /** Operation and type of the values of the stream. */
  readonly operation: ReduceOperation;
  readonly streamValues: ValueType;
  /** Type of the values of this call, if it is not the stream's. */
  readonly values?: HalfType | undefined;
  /** Whether the average is wanted; default: the sum. */
  readonly averages?: boolean | undefined;
}

/** @param code of the collective */
export function callHeader(code: number, call: GroupCall): CallHeader {
  const { averages = false, kind, operation, streamValues, values } = call;
  const half = values === undefined ? 0 : HALF_CODES[values];
  return {
    operation: code,
    dtype:
      KIND_CODES[kind] +
      (streamValues === 'f64' ? F64_CODES : half) +
      OPERATION_CODES[operation] +
      (averages ? AVERAGES_CODES : 0),
    // In a run an epoch has a plan, which all ranks know. A group has none, so its settings stand
    // in that place.
    epoch: settingsCode(call),
    quantization: call.quantization,
    servers: call.servers,
    delta: call.delta,
    values,
  };
}

/** A number of 32 bits made of the settings; 0 for the defaults. */
function settingsCode({
  delta,
  quantization,
  servers,
  streamValues,
}: GroupCall): number {
  const otherServers = servers === DEFAULT_SERVERS ? undefined : servers;
  const most = deltaByBytes(valueBytesOf(streamValues));
  const otherDelta = delta === most ? undefined : delta;
  const settings = [otherServers, otherDelta, ...quantizationTerms(quantization)];
  if (settings.every((setting) => setting === undefined)) return 0;
  return hashOf(settings.join(' '));
}

const quantizationTerms = (
  quantization: CollectiveSettings['quantization'],
): readonly unknown[] =>
  quantization?.format === undefined
    ? [quantization?.bits, quantization?.bucket, quantization?.scale]
    : [quantization.format];

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return hash >>> 0;
}
