/** The state of a link, as it is shown. */
import type { NodeConnection, NodeLoss } from '../../shared/machines/node-status.ts';
import type { ControlConnection } from './control-connection.ts';

interface LinkSituation {
  readonly connection: Pick<ControlConnection, 'hello' | 'readsOnly'> | undefined;
  readonly loss: NodeLoss | undefined;
  /** Whether it waits for the user. */
  readonly isRefused: boolean;
  /** The attempt that is due or under way; `last` is Infinity without a limit. */
  readonly attempt: { readonly number: number; readonly last: number } | undefined;
  readonly silence: NodeLoss | undefined;
  readonly roundTripMs: number | undefined;
}

export function connectionState(situation: LinkSituation): NodeConnection {
  const { connection, loss, isRefused, attempt, silence } = situation;
  if (connection !== undefined) {
    const { version } = connection.hello;
    const otherVersion = connection.readsOnly ? version : undefined;
    const roundTripMs = silence === undefined ? situation.roundTripMs : undefined;
    return { connection: 'connected', otherVersion, roundTripMs, silence };
  }
  if (isRefused) return { connection: 'refused', loss };
  if (attempt !== undefined) {
    const { number, last } = attempt;
    const shown = Number.isFinite(last) ? { number, last } : { number };
    return { connection: 'reconnecting', loss, attempt: shown };
  }
  return loss === undefined
    ? { connection: 'idle' }
    : { connection: 'unreachable', loss };
}
