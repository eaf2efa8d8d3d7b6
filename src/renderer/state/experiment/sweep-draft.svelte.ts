/** A sweep before it begins: the keys that are varied and their values as typed, and the seeds. */
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { AppApi } from '../../../shared/rpc/rpc.ts';
import type { SweepCheck, SweepRequest } from '../../../shared/sweep/sweep-request.ts';

export interface VariedKey {
  readonly key: string;
  /** Values, separated by commas, as YAML has them in a list. */
  readonly values: string;
}

const TYPING_MS = 400;

export class SweepDraft {
  readonly #api: AppApi;
  readonly #spec: () => string;
  readonly #opened: (sweep: string) => void;
  #keys = $state.raw<readonly VariedKey[]>([]);
  #seeds = $state('3');
  #check = $state.raw<SweepCheck>();
  #failure = $state.raw<ErrorData>();
  #isStarting = $state(false);
  #typing: ReturnType<typeof setTimeout> | undefined;
  #question = 0;

  /**
   * @param spec the text of the spec that is varied
   * @param opened shows a sweep that has begun
   */
  constructor(api: AppApi, spec: () => string, opened: (sweep: string) => void) {
    this.#api = api;
    this.#spec = spec;
    this.#opened = opened;
  }

  get keys(): readonly VariedKey[] {
    return this.#keys;
  }

  get seeds(): string {
    return this.#seeds;
  }

  /** Whether anything is to be varied. */
  get isUsed(): boolean {
    return this.#keys.length > 0;
  }

  get isStarting(): boolean {
    return this.#isStarting;
  }

  /** The points that the sweep would have; undefined until they have been checked. */
  get points(): Extract<SweepCheck, { ok: true }> | undefined {
    return this.#check?.ok === true ? this.#check : undefined;
  }

  get error(): ErrorData | undefined {
    if (this.#failure !== undefined) return this.#failure;
    return this.#check?.ok === false ? this.#check.error : undefined;
  }

  /** The runs that would start: without varied keys the spec alone; undefined while unfinished. */
  get request(): SweepRequest | undefined {
    if (!this.isUsed) return { spec: this.#spec(), vary: [], seeds: 1, atOnce: 1 };
    return this.points === undefined ? undefined : this.#request();
  }

  close(): void {
    clearTimeout(this.#typing);
  }

  add(): void {
    this.#keys = [...this.#keys, { key: '', values: '' }];
  }

  remove(index: number): void {
    this.#keys = this.#keys.filter((_, at) => at !== index);
    this.checkSoon();
  }

  change(index: number, change: Partial<VariedKey>): void {
    this.#keys = this.#keys.map((one, at) =>
      at === index ? { ...one, ...change } : one,
    );
    this.checkSoon();
  }

  setSeeds(text: string): void {
    this.#seeds = text;
    this.checkSoon();
  }

  /** Checks the sweep after a pause, as it or its spec has changed. */
  checkSoon(): void {
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => void this.#checkNow(), TYPING_MS);
  }

  async start(): Promise<void> {
    const request = this.#request();
    if (this.#isStarting || request === undefined) return;
    this.#isStarting = true;
    this.#failure = undefined;
    try {
      const { id } = await this.#api.startSweep(request);
      this.#opened(id);
    } catch (thrown) {
      this.#failure = dataOf(thrown);
    } finally {
      this.#isStarting = false;
    }
  }

  async #checkNow(): Promise<void> {
    const mine = ++this.#question;
    const request = this.#request();
    this.#failure = undefined;
    if (request === undefined) {
      this.#check = undefined;
      return;
    }
    try {
      const check = await this.#api.checkSweep(request);
      if (mine === this.#question) this.#check = check;
    } catch (thrown) {
      if (mine === this.#question) this.#failure = dataOf(thrown);
    }
  }

  /** The sweep to request; undefined while nothing is varied, or the seeds are no numbers. */
  #request(): SweepRequest | undefined {
    const seeds = seedsOf(this.#seeds);
    const vary = this.#keys
      .filter(({ key, values }) => key.trim() !== '' && values.trim() !== '')
      .map(({ key, values }) => `${key.trim()}=${values}`);
    if (vary.length === 0 || seeds === undefined) return undefined;
    return { spec: this.#spec(), vary, seeds, atOnce: 1 };
  }
}

/** The seeds as they were typed: `3` is their number, `1, 2, 7` are the seeds themselves. */
function seedsOf(text: string): number | number[] | undefined {
  if (!/^\s*\d+(\s*,\s*\d+)*\s*$/.test(text)) return undefined;
  const seeds = text.split(',').map(Number);
  const [first] = seeds;
  return seeds.length === 1 && first! > 0 ? first : seeds;
}

const dataOf = (thrown: unknown): ErrorData => toErrorData(thrown);
