/**
 * The messages that methods expect to send, for use in their definitions. A size that
 * depends on the gradient is an estimate for Gaussian elements of this standard deviation; a
 * run corrects it by what its ranks have sent.
 */
import { sparseBytes } from '../memory/entries.ts';
import type { ExpectedMessage } from './method.ts';

/** `gradwire plan` rehearses with it, too. */
export const ASSUMED_DEVIATION = 0.01;

/** A sum of `length` elements. */
export const denseSum = (length: number): ExpectedMessage => ({
  operation: 'reduce',
  kind: 'dense',
  length,
  bytes: 4 * length,
});

/** A sum of `length` elements of 16 bits. */
export const halfSum = (length: number): ExpectedMessage => ({
  ...denseSum(length),
  bytes: 2 * length,
  valueBytes: 2,
});

/** A sum of streams of `entries` pairs, of vectors of `length` elements. */
export const sparseSum = (length: number, entries: number): ExpectedMessage => ({
  operation: 'reduce',
  kind: 'sparse',
  length,
  bytes: sparseBytes(entries),
  entries,
});

/** Codes of `length` elements, gathered by every rank. */
export const gatheredCodes = (length: number, bytes: number): ExpectedMessage => ({
  operation: 'gather',
  kind: 'quantized',
  length,
  bytes,
});

export const estimated = (message: ExpectedMessage): ExpectedMessage => ({
  ...message,
  estimated: true,
});
