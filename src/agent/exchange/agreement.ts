/**
 * Agreement of the ranks with every exchange, by one small control message: on switches, on
 * stopping, and on observations of the previous exchange.
 */
import { awaitedElsewhere } from '../../shared/async/awaited-elsewhere.ts';
import type { ExchangeWatch } from '../auto/exchange-watch.ts';
import type { SmallOperation } from '../collectives/small-allreduce.ts';
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

/** Numbers by which a rank says which models its step is of, and how they combine over ranks. */
export interface Turn {
  readonly report: readonly number[];
  readonly operations: readonly SmallOperation[];
}

interface Agreed {
  readonly wished: Wishes;
  readonly observed: readonly number[];
  /** The numbers of `Turn`, combined. */
  readonly turns: readonly number[];
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
   * @param turn the models of this rank's step, where they step in turns
   */
  async agree(watch: ExchangeWatch, turn?: Turn): Promise<Agreed> {
    // Stages have their own buckets, so observations of these go to their replicas.
    const isSplit = this.#group !== this.#world;
    const seen = isSplit
      ? this.#group.summarize(OBSERVATION_STREAM, watch.report, watch.operations)
      : undefined;
    seen?.catch(awaitedElsewhere);
    const [epoch, request, ...others] = await this.#world.summarize(
      CONTROL_STREAM,
      [
        this.#schedule.knownEpoch,
        this.#wishes.highest,
        ...(turn?.report ?? []),
        ...(isSplit ? [] : watch.report),
      ],
      ['min', 'max', ...(turn?.operations ?? []), ...(isSplit ? [] : watch.operations)],
    );
    this.#schedule.agree(epoch!);
    const turns = others.splice(0, turn?.report.length ?? 0);
    return {
      wished: this.#wishes.agreed(request!),
      observed: (await seen) ?? others,
      turns,
    };
  }
}
