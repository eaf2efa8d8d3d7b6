/** Each thread's own scratch in the arena: histograms, then tiles, then a cursor. */

/** Scratch of the histograms in assembly/selection.ts. */
export const HISTOGRAM_BYTES = 32_768;
/** Four tiles, as assembly/quantize.ts needs them. */
const TILES_BYTES = 256;
/** Words that several threads write are on separate cache lines. */
const LINE = 64;

export const TILES = HISTOGRAM_BYTES;
export const CURSOR = TILES + TILES_BYTES;
/** A count over all threads, in the first thread's scratch. */
export const TOTAL = CURSOR + LINE;
export const THREAD_BYTES = TOTAL + LINE;
