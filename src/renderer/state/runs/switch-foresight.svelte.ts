/**
 * The foresight of a switch that the user considers: asked for once the form stands still, as a
 * machine of the run rehearses both methods for it. The latest question wins.
 */
import type { JsonObject } from '../../../shared/checks/json.ts';
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { Foresight } from '../../../shared/orders/foresee.ts';
import type { AppApi } from '../../../shared/rpc/rpc.ts';

/** Time without a change after which the machine is asked. */
const STILL_MS = 500;

export type ForesightState =
  | { readonly kind: 'none' }
  | { readonly kind: 'asking' }
  | { readonly kind: 'known'; readonly foresight: Foresight }
  | { readonly kind: 'failed'; readonly error: ErrorData };

export class SwitchForesight {
  readonly #api: Pick<AppApi, 'order'>;
  readonly #run: string;
  #state = $state.raw<ForesightState>({ kind: 'none' });
  #tensors = $state.raw<Foresight['tensors']>();
  #isLearning = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Number of the latest question. */
  #asked = 0;
  /** The change that is considered, as text: the same change is another object after each keystroke. */
  #considered: string | undefined;

  constructor(api: Pick<AppApi, 'order'>, run: string) {
    this.#api = api;
    this.#run = run;
  }

  get state(): ForesightState {
    return this.#state;
  }

  /** The model's tensors, once any question was answered. */
  get tensors(): Foresight['tensors'] | undefined {
    return this.#tensors;
  }

  /**
   * Considers a change; undefined: none.
   * @param epoch of the current plan: a prediction starts from it, and holds no longer once it is
   * another, whoever switched
   */
  consider(change: JsonObject | undefined, epoch: number): void {
    const considered = change && textOf(change, epoch);
    if (considered === this.#considered) return;
    this.#considered = considered;
    clearTimeout(this.#timer);
    const question = ++this.#asked;
    this.#state = { kind: change === undefined ? 'none' : 'asking' };
    if (change === undefined) return;
    this.#timer = setTimeout(() => void this.#ask(change, question), STILL_MS);
  }

  /** Asks what a plan does for the model's tensors alone, unless they are known or asked for. */
  async learnTensors(plan: JsonObject): Promise<void> {
    if (this.#tensors !== undefined || this.#isLearning) return;
    this.#isLearning = true;
    try {
      const { tensors } = await this.#api.order(this.#run, {
        type: 'foresee',
        change: plan,
      });
      this.#tensors = tensors;
    } catch {
      // A prediction that the user asks for shows why there is none.
    } finally {
      this.#isLearning = false;
    }
  }

  /** Whether this change of this plan is what it foresees. */
  isOf(change: JsonObject, epoch: number): boolean {
    return this.#considered === textOf(change, epoch);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#asked++;
  }

  async #ask(change: JsonObject, question: number): Promise<void> {
    let state: ForesightState;
    try {
      const foresight = await this.#api.order(this.#run, { type: 'foresee', change });
      state = { kind: 'known', foresight };
      this.#tensors = foresight.tensors;
    } catch (error) {
      state = {
        kind: 'failed',
        error: toErrorData(error),
      };
    }
    if (question === this.#asked) this.#state = state;
  }
}

const textOf = (change: JsonObject, epoch: number): string =>
  JSON.stringify([epoch, change]);
