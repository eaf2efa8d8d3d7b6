/**
 * Measures of a bucket: what each is called, its unit and what it means, for the page, the command
 * and the export alike. All are means over the exchanges, and over the ranks, that are looked at.
 */

export type MeasureUnit = 'ms' | 'bytes' | 'share' | 'number';

export interface BucketMeasureDefinition {
  readonly title: string;
  /** The heading of a narrow column. */
  readonly short: string;
  readonly unit: MeasureUnit;
  readonly meaning: string;
}

export const BUCKET_MEASURES = {
  time: {
    title: 'exposed time',
    short: 'time',
    unit: 'ms',
    meaning: 'the part of an iteration that a rank spends on the bucket, all phases',
  },
  wait: {
    title: 'waiting',
    short: 'wait',
    unit: 'ms',
    meaning: 'the part of this in which the rank waits for a first byte',
  },
  transfer: {
    title: 'sending and receiving',
    short: 'transfer',
    unit: 'ms',
    meaning: 'the part in which bytes are sent or received',
  },
  compress: {
    title: 'compression',
    short: 'compress',
    unit: 'ms',
    meaning: 'the part in which the bucket is compressed',
  },
  combine: {
    title: 'reduction and decompression',
    short: 'combine',
    unit: 'ms',
    meaning: 'the part in which what has come is summed and decompressed',
  },
  hidden: {
    title: 'hidden time',
    short: 'hidden',
    unit: 'ms',
    meaning:
      'time on the bucket while the model computes, which costs the step nothing',
  },
  begin: {
    title: 'begin',
    short: 'begin',
    unit: 'ms',
    meaning: 'from the beginning of the exchange to that of the bucket',
  },
  end: {
    title: 'end',
    short: 'end',
    unit: 'ms',
    meaning: 'from the beginning of the exchange to the end of the bucket',
  },
  payload: {
    title: 'payload',
    short: 'payload',
    unit: 'bytes',
    meaning: 'bytes into which a rank compresses the bucket',
  },
  sent: {
    title: 'sent bytes',
    short: 'sent',
    unit: 'bytes',
    meaning: 'bytes of the bucket that a rank sends, all messages, without framing',
  },
  density: {
    title: 'density',
    short: 'density',
    unit: 'share',
    meaning: 'share of the elements that a rank sends, where the method selects',
  },
  fillIn: {
    title: 'fill-in',
    short: 'fill-in',
    unit: 'number',
    meaning:
      'entries of the sum for each that a rank sends: 1 where all ranks send the same',
  },
  residualNorm: {
    title: 'residual norm',
    short: 'residual',
    unit: 'number',
    meaning: 'norm of what a rank keeps back, where the method keeps a residual',
  },
  error: {
    title: 'relative error',
    short: 'error',
    unit: 'share',
    meaning:
      'norm of what is kept back by that of what was to be sent, gradient and residual together',
  },
} as const satisfies Readonly<Record<string, BucketMeasureDefinition>>;

export type BucketMeasure = keyof typeof BUCKET_MEASURES;

export const BUCKET_MEASURE_IDS = Object.keys(
  BUCKET_MEASURES,
) as readonly BucketMeasure[];

/** Values by measure; what was not observed is left out. */
export type BucketValues = Readonly<Partial<Record<BucketMeasure, number>>>;
