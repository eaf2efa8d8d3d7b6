/** What the transport tells of its time, so that an iteration's time can be attributed. */
import { describe, expect, test } from 'vitest';
import type { TransportObserver } from '../../../src/agent/transport/transport.ts';
import { makeWorld, TRANSPORT_KINDS } from './world.ts';

const header = { stream: 1, sequence: 0, epoch: 0, operation: 1, dtype: 1 };

describe.each(TRANSPORT_KINDS)('%s:', (transport) => {
  test('work on sockets and what is waited for, as it changes', async () => {
    const told: string[] = [];
    const observer: TransportObserver = {
      working: (kind) => {
        told.push(`${kind} {`);
        return () => told.push('}');
      },
      waiting: (state) => {
        told.push('rank' in state ? `${state.kind} ${state.rank}` : state.kind);
      },
      // In the work of sending it, so that an arrow leaves that span of a trace.
      sending: () => told.push('message'),
    };
    await using world = await makeWorld(2, { observer, transport });
    const [a, b] = world.transports;
    const received = a!.receive(1, header, Buffer.alloc(4));
    await b!.send(0, header, Buffer.alloc(4));
    await received;
    expect(told).toEqual([
      ...['first 1', 'send {', 'message', '}'],
      ...['receive {', '}', 'nothing'],
    ]);
  });

  test('the rest of a message that has begun', async () => {
    const told: string[] = [];
    const observer: TransportObserver = {
      working: () => () => undefined,
      waiting: (state) => {
        told.push('rank' in state ? `${state.kind} ${state.rank}` : state.kind);
      },
    };
    await using world = await makeWorld(2, { observer, transport });
    const [a, b] = world.transports;
    // More than one chunk of a socket: the first one leaves the message unfinished.
    const data = new Uint8Array(8 * 2 ** 20);
    const received = a!.receive(1, header, new Uint8Array(data.length));
    await Promise.all([b!.send(0, header, data), received]);
    const ofReceiver = told.filter((state) => state !== 'drain 0');
    expect(ofReceiver.slice(0, 2)).toEqual(['first 1', 'rest 1']);
    expect(told.at(-1)).toBe('nothing');
  });
});
