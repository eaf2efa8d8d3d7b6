/**
 * The switch that the user makes in the panel: the plan wanted, its guard, what happens to the
 * residual, and what became of the order. A guard and an answer about the residual are of one switch:
 * neither goes with the way back, which the guard would undo, nor with the next one.
 */
import type { JsonObject } from '../../../shared/checks/json.ts';
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { OrderOf } from '../../../shared/orders/orders.ts';
import type { ResidualPolicy } from '../../../shared/plan/exchange-plan.ts';
import type { SwitchGuard } from '../../../shared/plan/switch-guard.ts';
import type { SwitchRecord } from '../../../shared/records/switch.ts';
import type { AppApi } from '../../../shared/rpc/rpc.ts';

export type SwitchProgress =
  | { readonly kind: 'idle' }
  | { readonly kind: 'asking' }
  | { readonly kind: 'pending'; readonly epoch: number; readonly notBefore: number }
  | { readonly kind: 'refused'; readonly error: ErrorData };

/** The run that is switched, as far as its records have come. */
interface SwitchedRun {
  readonly run: string;
  readonly switches: readonly Pick<SwitchRecord, 'epoch'>[];
  readonly live: boolean;
}

type SwitchOrder = OrderOf<'switch'>;

export class SwitchForm {
  readonly #api: Pick<AppApi, 'order'>;
  readonly #run: SwitchedRun;
  #chosen = $state.raw<JsonObject>();
  #progress = $state.raw<SwitchProgress>({ kind: 'idle' });
  guard = $state.raw<SwitchGuard>({});
  residual = $state<ResidualPolicy>('flush');

  constructor(api: Pick<AppApi, 'order'>, run: SwitchedRun) {
    this.#api = api;
    this.#run = run;
  }

  /** The plan that the user has chosen; undefined means the current one. */
  get chosen(): JsonObject | undefined {
    return this.#chosen;
  }

  get progress(): SwitchProgress {
    return this.#progress;
  }

  /** Whether a switch was ordered that has not taken effect yet. */
  get isBusy(): boolean {
    return this.#progress.kind === 'asking' || this.#progress.kind === 'pending';
  }

  choose(change: JsonObject): void {
    this.#chosen = change;
    if (this.#progress.kind === 'refused') this.#progress = { kind: 'idle' };
  }

  /**
   * Orders a switch, with the form's guard.
   * @param isAsked whether the form asks what happens to the residual
   * @param foreseen the prediction that was shown for it
   */
  async apply(
    change: JsonObject,
    isAsked: boolean,
    foreseen?: SwitchOrder['foreseen'],
  ): Promise<void> {
    await this.#order({
      type: 'switch',
      change,
      residual: isAsked ? this.residual : 'flush',
      guard: Object.keys(this.guard).length === 0 ? undefined : this.guard,
      foreseen,
    });
  }

  /** Orders the way back to the plan before. */
  async back(change: JsonObject): Promise<void> {
    await this.#order({ type: 'switch', change, residual: 'flush' });
  }

  /** Takes the run's newest records: a pending switch has taken effect, or never will. */
  follow(): void {
    if (this.#progress.kind !== 'pending') return;
    if (this.#hasCome(this.#progress.epoch)) this.#clear();
    else if (!this.#run.live) this.#progress = { kind: 'idle' };
  }

  async #order(order: SwitchOrder): Promise<void> {
    if (this.isBusy) return;
    this.#chosen = order.change;
    this.#progress = { kind: 'asking' };
    try {
      const answer = await this.#api.order(this.#run.run, order);
      const { epoch, notBefore } = answer.switch;
      this.#progress = { kind: 'pending', epoch, notBefore };
      // Its record, or the run's end, may have arrived before this answer.
      this.follow();
    } catch (error) {
      this.#progress = { kind: 'refused', error: toErrorData(error) };
    }
  }

  #hasCome(epoch: number): boolean {
    return this.#run.switches.some((record) => record.epoch === epoch);
  }

  #clear(): void {
    this.#progress = { kind: 'idle' };
    this.#chosen = undefined;
    this.guard = {};
    this.residual = 'flush';
  }
}
