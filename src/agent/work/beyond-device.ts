/** Error of work whose memory a device cannot hold; the work is then done elsewhere. */
export class BeyondDevice extends Error {
  constructor(what: string) {
    super(`internal: the device cannot hold ${what}`);
  }
}
