/**
 * Errors that say no more than that the other side of a connection is gone. Which call is the
 * first to notice, and with which of them, is chance: messages do not depend on it.
 */
const CLOSED: ReadonlySet<unknown> = new Set([
  ...['EPIPE', 'ECONNRESET', 'ECONNABORTED'],
  ...[
    'ERR_STREAM_PREMATURE_CLOSE',
    'ERR_STREAM_DESTROYED',
    'ERR_STREAM_WRITE_AFTER_END',
  ],
]);

export const saysClosed = (error: unknown): boolean =>
  CLOSED.has((error as { readonly code?: unknown } | undefined)?.code);
