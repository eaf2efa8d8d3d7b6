/** Main's end of a port: closed once, whichever side does it. */
import { EventEmitter } from 'node:events';
import type { MessagePortMain } from 'electron';
import { describe, expect, it } from 'vitest';
import { portChannel } from '../../../src/shared/rpc/rpc-wire.ts';
import { Sessions } from '../../../src/main/rpc/session.ts';
import { SmallCore } from './small-core.ts';

/** What Electron documents of MessagePortMain: `close` comes from the other side only. */
class Port extends EventEmitter {
  readonly posted: string[] = [];
  started = false;
  closed = false;
  postMessage(text: string): void {
    if (this.closed) throw new Error('posted to a closed port');
    this.posted.push(text);
  }
  start(): void {
    this.started = true;
  }
  close(): void {
    this.closed = true;
  }
}

function serve() {
  const port = new Port();
  const core = new SmallCore();
  const sessions = new Sessions(core);
  sessions.serve(portChannel(port as unknown as MessagePortMain));
  return { port, core, sessions };
}

describe('a session over a port', () => {
  it('answers', async () => {
    const { port } = serve();
    expect(port.started).toBe(true);
    port.emit('message', { data: '{"t":"q","i":"1","m":"presets","a":[]}' });
    await expect.poll(() => port.posted).toEqual(['{"t":"s","i":"1","r":[]}']);
  });

  it.each([
    ['this side closes', ({ sessions }: ReturnType<typeof serve>) => sessions.close()],
    ['the page goes', ({ port }: ReturnType<typeof serve>) => void port.emit('close')],
    [
      'the page breaks the protocol',
      ({ port }: ReturnType<typeof serve>) => void port.emit('message', { data: '?' }),
    ],
  ])('ends once when %s', (_title, close) => {
    const session = serve();
    close(session);
    session.port.emit('close');
    expect(session.sessions.size).toBe(0);
    expect(session.core.listening).toBe(0);
    session.core.emit('notice', { code: 'X', kind: 'failure', message: 'm' });
    expect(session.port.posted).toEqual([]);
  });
});
