/**
 * Somebody between two ranks: passes on what rank 1 sends to rank 0 and back, and may
 * change what comes after the dialer's handshake.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { DIALER_BYTES } from '../../../src/agent/transport/handshake.ts';
import type { RankAddress } from '../../../src/shared/protocol/supervisor.ts';
import { HOST } from './world.ts';

/** All that the dialer has sent since its handshake, and what to pass on of it by now. */
export type Meddle = (sent: Buffer) => Buffer;

export class MeddlingProxy implements Disposable {
  readonly address: RankAddress;
  /** All that passed from the dialer, as it was. */
  sent = Buffer.alloc(0);
  readonly #server: Server;
  readonly #sockets: Socket[] = [];

  private constructor(server: Server, target: RankAddress, meddle: Meddle) {
    this.#server = server;
    const { port } = server.address() as { port: number };
    this.address = { host: HOST, port };
    server.on('connection', (near) => {
      const far = connect({ host: target.host, port: target.port });
      this.#sockets.push(near, far);
      let passed = 0;
      near.on('data', (chunk: Buffer) => {
        this.sent = Buffer.concat([this.sent, chunk]);
        const hello = this.sent.subarray(0, DIALER_BYTES);
        const rest = this.sent.subarray(DIALER_BYTES);
        const all = rest.length === 0 ? hello : Buffer.concat([hello, meddle(rest)]);
        far.write(all.subarray(passed));
        passed = all.length;
      });
      far.on('data', (chunk: Buffer) => near.write(chunk));
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        one.on('error', () => one.destroy());
        one.on('close', () => other.destroy());
      }
    });
  }

  static async before(target: RankAddress, meddle: Meddle): Promise<MeddlingProxy> {
    const server = createServer().listen(0, HOST);
    await once(server, 'listening');
    return new MeddlingProxy(server, target, meddle);
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}
