/** A device cannot hold what was asked for: the work is done elsewhere. */
export class BeyondDevice extends Error {
  constructor(what: string) {
    super(`internal: the device cannot hold ${what}`);
  }
}
