/**
 * Agreement of the ranks with every exchange, by one small control message: on switches, on
 * stopping, and on observations of the previous exchange.
 */
import { awaitedElsewhere } from '../../shared/async/awaited-elsewhere.ts';
import type { ExchangeWatch } from '../auto/exchange-watch.ts';
import type { PlanSchedule } from '../plan/plan-schedule.ts';
import type { CollectiveGroup } from './collective-group.ts';
import { CONTROL_STREAM, OBSERVATION_STREAM } from './streams.ts';
import type { OwnWishes, Wishes } from './wishes.ts';

interface Parties {
  readonly schedule: PlanSchedule;
  /** Ranks that exchange gradients. */
  readonly group: CollectiveGroup;
  /** All ranks. */
  readonly world: CollectiveGroup;
  /** The wishes of this rank. */
  readonly wishes: OwnWishes;
}

export class Agreement {
  readonly #schedule: PlanSchedule;
  readonly #group: CollectiveGroup;
  readonly #world: CollectiveGroup;
  readonly #wishes: OwnWishes;

  constructor({ schedule, group, world, wishes }: Parties) {
    this.#schedule = schedule;
    this.#group = group;
    this.#world = world;
    this.#wishes = wishes;
  }

  /**
   * One control message: the newest epoch known everywhere, whether to stop, and what the
   * ranks saw of the last exchange under this plan.
   */
  async agree(
    watch: ExchangeWatch,
  ): Promise<{ wished: Wishes; observed: readonly number[] }> {
    // Stages have their own buckets, so observations of these go to their replicas.
    const isSplit = this.#group !== this.#world;
    const seen = isSplit
      ? this.#group.summarize(OBSERVATION_STREAM, watch.report, watch.operations)
      : undefined;
    seen?.catch(awaitedElsewhere);
    const [epoch, request, ...observed] = await this.#world.summarize(
      CONTROL_STREAM,
      [
        this.#schedule.knownEpoch,
        this.#wishes.highest,
        ...(isSplit ? [] : watch.report),
      ],
      ['min', 'max', ...(isSplit ? [] : watch.operations)],
    );
    this.#schedule.agree(epoch!);
    return {
      wished: this.#wishes.agreed(request!),
      observed: (await seen) ?? observed,
    };
  }
}
