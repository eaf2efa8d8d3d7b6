/**
 * Streams of the transport: one per purpose, so that exchanges in flight at the same
 * time never take each other's messages.
 */
export const CONTROL_STREAM = 0;
/** Sums over ranks of a few numbers: evaluation, divergence, the closing checks. */
export const SUMMARY_STREAM = 1;
export const RESIDUAL_STREAM = 2;
export const WEIGHTS_STREAM = 3;
// 4 to 8: between workers and servers (agent/asynchronous), or between the stages of a pipeline
// (agent/pipeline): no run has both.
/** Agreements among ranks with the same layers, if a model is split. */
export const GROUP_SUMMARY_STREAM = 9;
export const OBSERVATION_STREAM = 10;
/** Agreements on whether the gradients of all ranks were finite. */
export const FINITE_STREAM = 11;
const FIRST_BUCKET_STREAM = 16;

export const bucketStream = (bucket: number): number => FIRST_BUCKET_STREAM + bucket;

/** The bucket that a stream carries; -1: none. */
export const bucketOf = (stream: number): number =>
  stream < FIRST_BUCKET_STREAM ? -1 : stream - FIRST_BUCKET_STREAM;
