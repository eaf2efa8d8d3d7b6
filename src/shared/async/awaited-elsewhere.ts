/**
 * Handler for the rejection of a promise that is also awaited elsewhere, perhaps later: if it
 * is rejected before, Node would report it as unhandled. The error is not lost: whoever awaits
 * the promise gets it. If the transport fails, all promises of an exchange are rejected, and
 * the error of the first one awaited is reported.
 */
export function awaitedElsewhere(): void {
  // The other holder of the promise handles the error.
}
