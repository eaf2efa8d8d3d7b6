/**
 * For a promise that is awaited after others of the same exchange: it may be rejected
 * first, which Node would report as unhandled. If the transport fails, all are rejected,
 * and the error of the first one awaited is reported.
 */
export function awaitedLater(): void {
  // The caller holds the same promise.
}
