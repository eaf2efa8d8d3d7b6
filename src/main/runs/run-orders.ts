/**
 * Orders to runs in progress, on their way from a page or a command to the machines that
 * obey. Main acts only on a switch, which it relays, and on a stop, which may end a start.
 */
import { GradwireError, inputError } from '../../shared/errors/errors.ts';
import {
  orderNamed,
  type AnswerTo,
  type AskedType,
  type OrderOf,
} from '../../shared/orders/orders.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { CoreApi } from '../../shared/rpc/rpc.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import type { CoordinatorParts } from './coordinator-parts.ts';
import { relaySwitch } from './other-nodes.ts';
import { isThere } from './run-stops.ts';
import { assertNotElsewhere } from './runs-elsewhere.ts';

interface GivenTo {
  readonly run: string;
  readonly links: readonly [NodeLink, ...NodeLink[]];
  readonly received: (() => void) | undefined;
}

type Give<T extends AskedType> = (
  order: OrderOf<T>,
  to: GivenTo,
) => Promise<AnswerTo<T>>;

export class RunOrders {
  /** Calls of a page. */
  readonly api: Pick<CoreApi, 'order'> = {
    order: (run, order) => this.give(run, order),
  };

  readonly #parts: CoordinatorParts;
  /** Orders about which something is to be done here. */
  readonly #actions: { readonly [T in AskedType]?: Give<T> } = {
    switch: async (order, { run, links: [lead, ...others] }) => {
      const answer = await lead.order(run, order);
      // The switch waits until these nodes are back and know of it.
      for (const [link, error] of await relaySwitch(others, run, answer.switch)) {
        this.#parts.news.linkTrouble(link, error.toData());
      }
      return answer;
    },
    trace: async (order, { run, links }) => {
      const asked = links.find(({ state }) => isThere(state)) ?? links[0];
      const answer = await asked.order(run, order);
      // Otherwise the ranks agree among themselves.
      if (answer.from !== undefined) {
        const others = links.filter((link) => link !== asked);
        await this.#pass(run, { ...order, ...answer }, others);
      }
      return answer;
    },
    stop: async ({ now = false }, { run, links, received }) => {
      const { stops, store } = this.#parts;
      await stops.stop(run, links, store.spec(run), now, received);
      return {};
    },
  };

  constructor(parts: CoordinatorParts) {
    this.#parts = parts;
  }

  /**
   * Gives an order to a run. A stop of a run that has ended here ends what its machines still
   * have of it.
   * @param received called when a stop is known to have reached its machine
   * @throws GradwireError `RUN_ENDED`; what is wrong with the order, before any rank is told
   */
  async give<T extends AskedType>(
    run: string,
    order: OrderOf<T>,
    received?: () => void,
  ): Promise<AnswerTo<T>> {
    const isStop = order.type === 'stop';
    if (isStop && this.#hasEnded(run)) {
      const { now = false } = order as OrderOf<'stop'>;
      await this.#stopLeft(run, now, received);
      return {} as AnswerTo<T>;
    }
    this.#assertGoingOn(run, order.type);
    const links = this.#parts.linksOf(run);
    const act = this.#actions[order.type] as Give<T> | undefined;
    try {
      return await (act?.(order, { run, links, received }) ??
        this.#passOn(run, order, links));
    } catch (error) {
      // It ended as a stop wants it, by itself or at another process's request.
      if (isStop && this.#hasEnded(run)) return {} as AnswerTo<T>;
      // It may have ended, and been stored completely, in the meantime.
      this.#assertGoingOn(run, order.type);
      if (error instanceof GradwireError && error.code === 'RUN_UNKNOWN') {
        await assertNotElsewhere(links, run);
      }
      throw error;
    }
  }

  /** Gives it to the machines that its definition names. @returns the first one's answer */
  async #passOn<T extends AskedType>(
    run: string,
    order: OrderOf<T>,
    [lead, ...others]: readonly [NodeLink, ...NodeLink[]],
  ): Promise<AnswerTo<T>> {
    const asks = orderNamed(order.type)?.asks;
    if (asks === 'any') {
      const there = [lead, ...others].find(({ state }) => isThere(state));
      return await (there ?? lead).order<T>(run, order);
    }
    const answer = await lead.order<T>(run, order);
    if (asks === 'all') await this.#pass(run, order, others);
    return answer;
  }

  /** Gives it to machines whose answers say nothing more. */
  async #pass<T extends AskedType>(
    run: string,
    order: OrderOf<T>,
    links: readonly NodeLink[],
  ): Promise<void> {
    await Promise.all(
      links.map(async (link) => {
        try {
          await link.order<T>(run, order);
        } catch (error) {
          if (!(error instanceof GradwireError)) throw error;
          this.#parts.news.linkTrouble(link, error.toData());
        }
      }),
    );
  }

  /**
   * Stops a run where it goes on although it is stored as ended: its records could not be stored, for
   * example. This computer is asked, and machines that are connected.
   */
  async #stopLeft(run: string, now: boolean, received?: () => void): Promise<void> {
    const { nodes, stops, store } = this.#parts;
    for (const link of this.#parts.linksOf(run)) {
      const connection =
        link === nodes.lead ? await link.find({ interactive: false }) : link.connection;
      if (connection === undefined) continue;
      const { runs } = await connection.request('runs', {});
      if (!runs.some((each) => each.run === run && each.phase !== 'ended')) continue;
      await stops.stop(run, [link], store.spec(run), now, received);
    }
  }

  #hasEnded(run: string): boolean {
    return hasEnded(this.#parts.store.summary(run).state);
  }

  #assertGoingOn(run: string, type: string): void {
    const { state } = this.#parts.store.summary(run);
    if (!hasEnded(state)) return;
    throw inputError('RUN_ENDED', `run ${run} has ended (${state})`, {
      next:
        type === 'foresee'
          ? `Replay what it recorded: gradwire runs what-if ${run} KEY=VALUE.`
          : `Launch it again to ${type} while it runs.`,
    });
  }
}
