/** What `endless-sender.ts` and whoever starts it agree on. */
import type { TransportKind } from '../../../src/agent/transport/transport-choice.ts';
import type { RankAddress } from '../../../src/shared/protocol/supervisor.ts';

export interface SenderOrder {
  readonly addresses: readonly RankAddress[];
  readonly transport: TransportKind;
}

export const SENDER_BYTES = 4 * 2 ** 20;
export const SENDER_HEADER = {
  stream: 1,
  sequence: 0,
  epoch: 0,
  operation: 1,
  dtype: 1,
};
export const SENDER_RUN = { runId: 'sender', secret: Buffer.alloc(32, 3) };
