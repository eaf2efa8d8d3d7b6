/** Orders to a run on this node: what is done about them here, and what its ranks are told. */
import { failure, inputError, toErrorData } from '../../../shared/errors/errors.ts';
import type {
  AnswerTo,
  AskedType,
  OrderOf,
  RankOrder,
  RunOrder,
} from '../../../shared/orders/orders.ts';
import {
  describePlan,
  planAsChange,
  type PlanSwitch,
} from '../../../shared/plan/exchange-plan.ts';
import type { NoticeRecord } from '../../../shared/records/notice.ts';
import type { SwitchRequest } from '../../../shared/protocol/supervisor.ts';
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import { isProgram } from '../../../shared/spec/program-spec.ts';
import { makeCatalogue } from '../../launch/catalogue.ts';
import { requireEngines } from '../../training/program-workload.ts';
import type { RankTeam } from '../ranks/rank-team.ts';
import type { WayBack } from './guard-watch.ts';
import { foreseen } from './run-foresight.ts';
import type { RunParts } from './run-parts.ts';
import { requireTraceable } from './traceable.ts';

type OrderAct<T extends AskedType> = (
  order: OrderOf<T>,
) => AnswerTo<T> | Promise<AnswerTo<T>>;

export class RunOrders {
  readonly #run: RunParts;
  /** Orders about which something is to be done here. */
  readonly #actions: { readonly [T in AskedType]?: OrderAct<T> };

  /** @param stop ends the run after the current iteration, or at once */
  constructor(run: RunParts, stop: (now: boolean) => Promise<void>) {
    this.#run = run;
    this.#actions = {
      switch: (order) => ({ switch: this.#switch(order) }),
      foresee: (order) => {
        this.#assertUnderWay('cannot be switched');
        return foreseen(run, run.switches.foresee(order));
      },
      stop: async ({ now = false }) => {
        await stop(now);
        return {};
      },
      checkpoint: (order) => {
        requireCheckpoints(run.options.spec);
        return this.#leaveToRanks(order);
      },
      trace: (order) => {
        requireTraceable(run.options.spec);
        return run.options.spec.workload.observe === true
          ? this.#traceObserved(order)
          : this.#leaveToRanks(order);
      },
    };
  }

  /**
   * Obeys an order.
   * @throws GradwireError `RUN_ENDED`, `RUN_STATE`, and why the order is invalid
   */
  async obey<T extends AskedType>(order: OrderOf<T>): Promise<AnswerTo<T>> {
    const act = this.#actions[order.type] as OrderAct<T> | undefined;
    return (await (act?.(order) ?? this.#passOn(order))) as AnswerTo<T>;
  }

  /** Adopts another node's switches: the ranks here need them for the same fence. */
  adopt(switches: readonly PlanSwitch[]): void {
    if (this.#run.life.is('ended')) return;
    this.#announce(this.#run.switches.adopt(switches));
  }

  /** Tells the ranks an order about which nothing is to be done here. */
  #passOn(order: RunOrder): object {
    this.#ranksFor(order).tell(order as RankOrder);
    return {};
  }

  /** Tells one rank an order on which the ranks agree among themselves. */
  #leaveToRanks(order: RunOrder): object {
    this.#ranksFor(order).tellOne(order as RankOrder);
    return {};
  }

  /** Programs that are only observed tell of their steps later, so the first is one of these. */
  #traceObserved(order: OrderOf<'trace'>): AnswerTo<'trace'> {
    const ranks = this.#ranks();
    const from = order.from ?? this.#run.untold.first(Date.now());
    ranks.tell({ ...order, from });
    return { from };
  }

  /**
   * The ranks here, to which an order can be given that their engines obey.
   * @throws GradwireError `RUN_ENDED`, `RUN_STATE`, `PROGRAM_OBSERVED`
   */
  #ranksFor(order: RunOrder): RankTeam {
    requireEngines(this.#run.options.spec, order.type);
    return this.#ranks();
  }

  /** @throws GradwireError `RUN_ENDED`, `RUN_STATE` */
  #ranks(): RankTeam {
    const { life, team } = this.#run;
    this.#assertUnderWay('takes no more orders');
    const ranks = team();
    if (ranks === undefined) {
      throw failure('RUN_STATE', `the run is ${life.state}, so no rank takes orders`, {
        next: 'Try again when it goes on.',
      });
    }
    return ranks;
  }

  /** Switches back as a guard wants it; returns what to record of it. */
  goBack({ to, why }: WayBack): NoticeRecord {
    const notice = { type: 'notice', at: Date.now(), level: 'warning' } as const;
    try {
      this.#switch({ change: planAsChange(to, makeCatalogue().methods), why });
      return {
        ...notice,
        code: 'GUARD_SWITCHES_BACK',
        message: `the guard switches back to ${describePlan(to)}: ${why}`,
      };
    } catch (error) {
      const { message } = toErrorData(error);
      return {
        ...notice,
        code: 'GUARD_NOT_OBEYED',
        message: `the guard wanted to switch back (${why}), but ${message}`,
      };
    }
  }

  /** Validates a switch, gives it its epoch and sends it to every rank. */
  #switch(request: SwitchRequest & Pick<PlanSwitch, 'why'>): PlanSwitch {
    this.#assertUnderWay('cannot be switched');
    const planned = this.#run.switches.plan(request);
    this.#announce([planned]);
    return planned;
  }

  #announce(switches: readonly PlanSwitch[]): void {
    if (switches.length === 0) return;
    const { options, switches: all, team } = this.#run;
    options.switched?.(all.later);
    for (const planned of switches) team()?.tell({ type: 'switch', switch: planned });
  }

  /** @throws GradwireError `RUN_ENDED` */
  #assertUnderWay(consequence: string): void {
    const { life, outcome, team } = this.#run;
    const { failing = false } = team() ?? {};
    if (!life.is('ended') && !failing && !outcome.isDone) return;
    throw inputError('RUN_ENDED', `the run has ended, so it ${consequence}`, {
      next: 'Launch it again.',
    });
  }
}

/** @throws GradwireError `CHECKPOINT_UNSUPPORTED`: the state of the ranks is not Gradwire's */
function requireCheckpoints({ workload }: ExperimentSpec): void {
  if (!isProgram(workload)) return;
  throw inputError(
    'CHECKPOINT_UNSUPPORTED',
    'a program of one’s own computes outside Gradwire, which cannot write its state',
    { place: 'checkpoint', next: 'Let the program keep its own checkpoints.' },
  );
}
