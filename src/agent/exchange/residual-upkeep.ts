/** The upkeep of a rank's residual from one exchange to the next: its units and its norm. */
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import type { PhaseClock } from '../profile/phase-clock.ts';
import type { GradientSite } from '../sites/gradient-site.ts';

/** Iterations between readings of the residual, each of which costs a pass over it. */
const RESIDUAL_NORM_EVERY = 10;

export class ResidualUpkeep {
  readonly #clock: PhaseClock;
  readonly #residual: GradientSite['residual'];
  /** Learning rate η of the last exchange, where its plan keeps updates. */
  #keptAt: number | undefined;

  constructor(clock: PhaseClock, residual: GradientSite['residual']) {
    this.#clock = clock;
    this.#residual = residual;
  }

  get keptAt(): number | undefined {
    return this.#keptAt;
  }

  /** Continues from a saved state. */
  restore(keptAt: number | undefined): void {
    this.#keptAt = keptAt;
  }

  /**
   * The residual m is a sum of gradients, which the learning rate of the sending
   * iteration multiplies. A plan that keeps updates keeps ε = η·m instead, so m is
   * rescaled when η changes. The plan of the previous exchange decides which of the two
   * is kept, also for what a switch flushes. Rates are never 0, except that the last of
   * very many may round to 0; m is then left unchanged.
   * @param rate η of this exchange
   */
  keepUpdates(rate: number | undefined, units: ExchangePlan['residualUnits']): void {
    const before = this.#keptAt;
    if (rate === 0) return;
    this.#keptAt = units === 'update' ? rate : undefined;
    if (before === undefined || rate === undefined || before === rate) return;
    this.#clock.measure('compress', () => {
      this.#residual.scale(before / rate);
    });
  }

  /** Whether the norm is to be read after this iteration's exchange. */
  isNormDue(iteration: number): boolean {
    return iteration % RESIDUAL_NORM_EVERY === 0;
  }

  /** The residual's norm, by a pass over it; undefined if there is none. */
  async norm(): Promise<number | undefined> {
    return await this.#clock.follow('compress', async () => {
      const squares = await this.#residual.squaredNorm();
      return squares === undefined ? undefined : Math.sqrt(squares);
    });
  }
}
