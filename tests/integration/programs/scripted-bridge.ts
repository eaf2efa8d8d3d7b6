/** The program's end of the bridge to its agent, without Python: what a rank does is seen from outside of the package. */
import { connect, type Socket } from 'node:net';

export type Message = { readonly type: string } & Readonly<Record<string, unknown>>;

export class ScriptedBridge {
  readonly #socket: Socket;
  readonly #inbox: Message[] = [];
  #bytes = Buffer.alloc(0);
  #wake: (() => void) | undefined;

  constructor(path: string) {
    this.#socket = connect(path);
    this.#socket.on('data', (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      while (this.#bytes.length >= 4) {
        const end = 4 + this.#bytes.readUInt32LE(0);
        if (this.#bytes.length < end) break;
        this.#inbox.push(JSON.parse(this.#bytes.toString('utf8', 4, end)) as Message);
        this.#bytes = this.#bytes.subarray(end);
      }
      this.#wake?.();
    });
    this.#socket.on('close', () => process.exit(9));
    this.#socket.on('error', () => process.exit(9));
  }

  send(message: object): void {
    const body = Buffer.from(JSON.stringify(message));
    this.raw(body);
  }

  raw(body: Buffer): void {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(body.length);
    this.#socket.write(Buffer.concat([length, body]));
  }

  async next(): Promise<Message> {
    while (this.#inbox.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const message = this.#inbox.shift()!;
    if (message.type === 'failed') throw new Error(JSON.stringify(message));
    return message;
  }
}
