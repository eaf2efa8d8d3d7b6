/** Acts of a rank’s engine on each order to the run: the end of their way. */
import type { PlanSwitch } from '../../shared/plan/exchange-plan.ts';
import {
  orderNamed,
  type RankOrder,
  type RankOrderOf,
} from '../../shared/orders/orders.ts';
import {
  invalidDefinition,
  type RegistryKind,
} from '../../shared/catalogue/registry.ts';
import type { Notice } from '../../shared/records/notice.ts';

/** A notice, whose code may be one of an order that is defined elsewhere. */
type NoticeOfOrder = Omit<Notice, 'code'> & { readonly code: string };

/** The engine as orders see it. */
export interface OrderedEngine {
  learn(planSwitch: PlanSwitch): void;
  requestStop(): void;
  requestPause(): void;
  requestCheckpoint(): void;
  requestTrace(iterations: number): void;
  /** Reports a notice with the next exchange. */
  note(notice: NoticeOfOrder): void;
}

export type OrderAction<Order> = (engine: OrderedEngine, order: Order) => void;

type Actions = {
  readonly [T in RankOrder['type']]: OrderAction<RankOrderOf<T>>;
};

const ACTIONS: Actions = {
  switch: (engine, { switch: planned }) => {
    engine.learn(planned);
  },
  stop: (engine) => {
    engine.requestStop();
  },
  pause: (engine) => {
    engine.requestPause();
  },
  checkpoint: (engine) => {
    engine.requestCheckpoint();
  },
  trace: (engine, { iterations }) => {
    engine.requestTrace(iterations);
  },
};

const actions = new Map<string, OrderAction<never>>(Object.entries(ACTIONS));

/**
 * Adds what this process's engines do about an order that is defined elsewhere
 * (`registerOrder`).
 * @throws GradwireError `ORDER_INVALID`: no such order is told to ranks, or it has an action
 */
export function registerOrderAction<Order>(
  type: string,
  action: OrderAction<Order>,
): void {
  const kind: RegistryKind = { code: 'ORDER', noun: 'order' };
  if (orderNamed(type)?.told === undefined) {
    throw invalidDefinition(kind, type, 'no order of this type is told to ranks');
  }
  if (actions.has(type)) throw invalidDefinition(kind, type, 'it has an act already');
  actions.set(type, action);
}

/** Acts on an order. */
export function obey(engine: OrderedEngine, order: RankOrder): void {
  const action = actions.get(order.type);
  if (action === undefined) throw new Error(`internal: nothing obeys ${order.type}`);
  action(engine, order as never);
}
