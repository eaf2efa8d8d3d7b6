/** Looks for runs that commands have launched, one look at a time. */
export class RunDiscovery {
  readonly #discover: (isRepeated: boolean) => Promise<boolean>;
  readonly #report: (error: unknown) => void;
  #isNews = false;
  /** Whether a run was still being launched at the last look. */
  #isExpecting = false;
  #isLooking = false;

  /** @param discover the coordinator's: resolves to whether to look again */
  constructor(
    discover: (isRepeated: boolean) => Promise<boolean>,
    report: (error: unknown) => void,
  ) {
    this.#discover = discover;
    this.#report = report;
  }

  /** There may be new runs. */
  note(): void {
    this.#isNews = true;
  }

  /** Looks if there is a reason to. Called again and again. */
  look(): void {
    // A machine may take long to answer.
    if (this.#isLooking || !(this.#isNews || this.#isExpecting)) return;
    const isRepeated = !this.#isNews;
    this.#isNews = this.#isExpecting = false;
    this.#isLooking = true;
    void this.#discover(isRepeated)
      .then((again) => {
        this.#isExpecting = again;
      }, this.#report)
      .finally(() => {
        this.#isLooking = false;
      });
  }
}
