/**
 * For a promise that is awaited later than others of the same exchange: it may be rejected
 * before its turn comes, which Node would call unhandled. When the transport fails all of
 * them are, and the error of the first that is awaited is reported.
 */
export function awaitedLater(): void {
  // The caller holds the same promise.
}
