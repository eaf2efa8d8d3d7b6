/**
 * Thrown if a device cannot hold the requested memory; the work is then done elsewhere.
 */
export class BeyondDevice extends Error {
  constructor(what: string) {
    super(`internal: the device cannot hold ${what}`);
  }
}
