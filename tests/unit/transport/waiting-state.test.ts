import { expect, test } from 'vitest';
import {
  PendingReceive,
  PendingSend,
} from '../../../src/agent/transport/pending-operation.ts';
import { WaitingState } from '../../../src/agent/transport/waiting-state.ts';

const header = { stream: 0, sequence: 0, epoch: 0, operation: 0, dtype: 0 };

test('the oldest receive decides, then the oldest send, and only changes are told', () => {
  const told: string[] = [];
  const state = new WaitingState(3, {
    working: () => () => undefined,
    waiting: (now) => {
      told.push('rank' in now ? `${now.kind} ${now.rank}` : now.kind);
    },
  });
  const receive = new PendingReceive(2, header, 4, 4, () => new Uint8Array(4));
  const send = new PendingSend(1, header);
  state.update(undefined, undefined);
  state.update(receive, send);
  state.update(receive, send);
  receive.begin({ ...header, kind: 'data', length: 4 });
  state.update(receive, send);
  state.update(undefined, send);
  state.update(undefined, undefined);
  expect(told).toEqual(['first 2', 'rest 2', 'drain 1', 'nothing']);
});
