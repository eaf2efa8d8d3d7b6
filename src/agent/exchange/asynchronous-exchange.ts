/**
 * The engine's work if ranks do not wait for each other: it pushes gradients to servers,
 * pulls weights, and brings all ranks together when they have to agree on something.
 *
 * Several threads of a rank may push and ask at the same time. Pushes are made one after the
 * other: a gradient is compressed whole, with the one residual, before the next. So the residual
 * loses nothing in any order: the sum of all gradients is what was pushed plus what remains.
 * Weights for one thread may be on their way while another pushes.
 */
import type { Reply } from '../asynchronous/orders.ts';
import { Turns } from '../../shared/async/turns.ts';
import {
  ServedWeights,
  type ServedWeightsOptions,
} from '../asynchronous/served-weights.ts';
import type { PullRequest } from '../asynchronous/server-client.ts';
import { parameterServer } from '../collectives/parameter-server.ts';
import { CounterRandom } from '../kernels/random.ts';
import type { PlanSchedule } from '../plan/plan-schedule.ts';
import type { ByteLedger } from '../profile/byte-ledger.ts';
import type { PhaseClock } from '../profile/phase-clock.ts';
import type { GradientSite } from '../sites/gradient-site.ts';
import { awaitedElsewhere } from '../../shared/async/awaited-elsewhere.ts';
import type { CollectiveGroup } from './collective-group.ts';
import type {
  Asked,
  MeetResult,
  PushRequest,
  PushResult,
  ServeRequest,
} from './exchange-calls.ts';
import type { ExchangeObserver } from './exchange-observer.ts';
import type { PlanExecution } from './plan-execution.ts';
import { CONTROL_STREAM } from './streams.ts';
import { GO_ON, wishes, type OwnWishes } from './wishes.ts';

export interface AsynchronousExchangeOptions extends Omit<
  ServedWeightsOptions,
  'settings' | 'weights' | 'plan' | 'epoch' | 'reduce' | 'ledger'
> {
  readonly clock: PhaseClock;
  readonly group: CollectiveGroup;
  readonly ledger: ByteLedger;
  readonly schedule: PlanSchedule;
  readonly site: GradientSite;
  /** The current plan's buckets. */
  readonly execution: () => PlanExecution;
  readonly observer: ExchangeObserver;
  /** The wishes of this rank. */
  readonly wishes: OwnWishes;
}

/** A push whose request is still unanswered. */
interface Pushing {
  readonly result: Omit<PushResult, 'asked'>;
  readonly answer: Promise<Asked> | undefined;
}

/**
 * Purpose of the random stream that decides whether a rank drains its residual in an
 * iteration.
 */
const DRAIN_PURPOSE = 0x647261;

export class AsynchronousExchange implements Disposable {
  readonly #options: AsynchronousExchangeOptions;
  readonly #turns = new Turns();
  #served: ServedWeights | undefined;
  #drainEvery: number | undefined;
  /** Whether the rank has several trainer threads. */
  #several = false;

  constructor(options: AsynchronousExchangeOptions) {
    this.#options = options;
  }

  /** State of this rank's server, between two iterations, while all ranks meet. */
  get velocities(): readonly Float32Array[] {
    return this.#served?.velocities ?? [];
  }

  /**
   * All ranks begin this iteration, and servers serve until all ranks meet again.
   * @returns the next iteration before which all meet for an agreed switch
   */
  serve({ iteration, settings, weights }: ServeRequest): number | undefined {
    const { clock, schedule } = this.#options;
    this.#drainEvery = settings.drainEvery;
    this.#several = settings.trainerThreads > 1;
    this.#served ??= new ServedWeights({
      ...this.#options,
      settings,
      weights,
      plan: schedule.plan,
      epoch: () => schedule.epoch,
      reduce: (work) => clock.measure('reduce', work),
    });
    this.#served.open(iteration);
    return schedule.nextDue(iteration);
  }

  /**
   * Pushes a gradient to the servers, and asks for weights if another iteration is to begin.
   * The gradient's memory is overwritten.
   * @throws GradwireError `GRADIENT_NOT_FINITE`, `PAYLOAD_INVALID`, the transport's errors
   */
  async push(iteration: number, request: PushRequest): Promise<PushResult> {
    const { answer, result } = await this.#turns.take(() =>
      this.#push(iteration, request),
    );
    return { ...result, asked: answer && (await answer) };
  }

  /**
   * Asks only for weights: may this iteration begin?
   * @throws the transport's errors
   */
  async ask(ask: PullRequest): Promise<Asked> {
    // After the pushes that came before the request.
    const { answer } = await this.#turns.take(() =>
      Promise.resolve({ answer: this.#open.ask(ask) }),
    );
    return askedFor(ask, await answer);
  }

  /**
   * All ranks meet: afterwards all have the same weights, with everything that was
   * pushed.
   * @throws the transport's errors
   */
  meet(): Promise<MeetResult> {
    return this.#turns.take(async () => {
      const { clock, group, ledger, schedule, transport } = this.#options;
      const own = this.#options.wishes;
      clock.begin();
      const [epoch, agreed] = await group.summarize(
        CONTROL_STREAM,
        [schedule.knownEpoch, own.highest],
        ['min', 'max'],
      );
      schedule.agree(epoch!);
      await this.#open.meet();
      const profile = clock.end();
      return {
        profile,
        bytes: ledger.close(transport.counters),
        ...own.agreed(agreed!),
      };
    });
  }

  /** Adopts the next plan, while all ranks meet. */
  replan(plan: Parameters<ServedWeights['replan']>[0]): void {
    this.#served?.replan(plan);
  }

  [Symbol.dispose](): void {
    this.#served?.[Symbol.dispose]();
  }

  get #open(): ServedWeights {
    if (this.#served === undefined) throw new Error('internal: nobody serves');
    return this.#served;
  }

  async #push(
    iteration: number,
    { asks, gradient, inspects = false, lr }: PushRequest,
  ): Promise<Pushing> {
    const { clock, execution, ledger, observer, schedule, site, transport } =
      this.#options;
    const served = this.#open;
    clock.begin();
    if (gradient !== undefined) site.take(gradient);
    const statistics = await execution().run(iteration, {
      take: (bucket, payload) => served.push(bucket, payload, { iteration, lr }),
    });
    const drained = this.#drains(iteration) ? site.residual.drain() : 0;
    await site.residual.flush((leftover) => served.pushLeftover(leftover, lr));
    const observed = await observer.observe(iteration, inspects);
    const wantsMeeting = this.#options.wishes.highest !== GO_ON || schedule.hasNews;
    const end = { iteration, wantsMeeting };
    const answer =
      asks && served.pushedAndAsk(end, asks).then((reply) => askedFor(asks, reply));
    answer?.catch(awaitedElsewhere);
    if (asks === undefined) await served.pushed(end);
    // With several threads another one takes its turn: its gradient need not wait for
    // weights.
    else if (!this.#several) await answer;
    const { epoch, plan } = schedule;
    const result = {
      profile: clock.end(),
      bytes: {
        ...ledger.close(transport.counters),
        payload: execution().carried.bytes + 4 * drained,
      },
      statistics,
      ...observed,
      ...observer.intervals(),
      epoch,
      method: plan.method,
      collective: parameterServer.id,
      ...wishes(GO_ON),
      notices: [],
      drained: drained > 0,
    };
    return { result, answer };
  }

  /** Each rank draws independently, so that not all drain at the same time. */
  #drains(iteration: number): boolean {
    if (this.#drainEvery === undefined) return false;
    const { seed, transport } = this.#options;
    const { rank } = transport;
    const random = new CounterRandom({ seed, rank, iteration, purpose: DRAIN_PURPOSE });
    return random.uniform(0) * this.#drainEvery < 1;
  }
}

const askedFor = ({ iteration }: PullRequest, { meets, version }: Reply): Asked =>
  meets ? { begins: false } : { begins: true, staleness: iteration - version };
