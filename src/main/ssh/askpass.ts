/**
 * The program through which `ssh` asks without a terminal: it runs what SSH_ASKPASS names,
 * with its question as the argument. Ours passes the question to a socket of this process and
 * prints the answer. Both are in a directory that no other user can enter, and every request
 * carries a token made for this one connection.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { nodeBinary } from '../home/node-binary.ts';
import { shellWord } from '../../shared/words/shell-word.ts';

export interface AskpassQuestion {
  readonly prompt: string;
  /** `confirm`: yes or no. `none`: nothing to answer, something to do, such as a touch. */
  readonly kind: 'answer' | 'confirm' | 'none';
  /** `ssh` has stopped waiting. */
  readonly signal: AbortSignal;
}

/** Answers a question; undefined if there is no answer: `ssh` then tries methods that need none. */
export type Answer = (question: AskpassQuestion) => Promise<string | undefined>;

const LONGEST_QUESTION = 65_536;

/** The program's half: plain Node without libraries. */
const CLIENT = `
const [socket, token] = SOCKET_AND_TOKEN;
const line = JSON.stringify({
  token,
  prompt: process.argv[2] ?? '',
  kind: process.env.SSH_ASKPASS_PROMPT ?? '',
});
let answer = '';
require('node:net')
  .connect(socket, function () { this.write(line + '\\n'); })
  .setEncoding('utf8')
  .on('data', (text) => { answer += text; })
  .on('error', () => process.exit(1))
  .on('end', () => {
    if (!answer.startsWith('+')) process.exit(1);
    process.stdout.write(answer.slice(1) + '\\n');
  });
`;

export class Askpass implements AsyncDisposable {
  /** The value of SSH_ASKPASS. */
  readonly program: string;
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();

  private constructor(program: string, server: net.Server) {
    this.program = program;
    this.#server = server;
  }

  /** @param directory a private directory (0700) */
  static async listen(directory: string, answer: Answer): Promise<Askpass> {
    const token = randomBytes(24).toString('hex');
    const socket = path.join(directory, 'a');
    const client = path.join(directory, 'askpass.cjs');
    const program = path.join(directory, 'askpass');
    const known = JSON.stringify([socket, token]);
    writeFileSync(
      client,
      CLIENT.replace('SOCKET_AND_TOKEN', () => known),
      {
        mode: 0o600,
      },
    );
    const command = [nodeBinary(), client].map(shellWord).join(' ');
    writeFileSync(program, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o700 });
    const server = net.createServer({ allowHalfOpen: true });
    const askpass = new Askpass(program, server);
    server.on('connection', (connection) => {
      askpass.#serve(connection, token, answer);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(socket, resolve);
    });
    chmodSync(socket, 0o600);
    return askpass;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: net.Socket, token: string, answer: Answer): void {
    this.#sockets.add(socket);
    const gone = new AbortController();
    let text = '';
    socket.setEncoding('utf8');
    socket.on('error', () => undefined);
    socket.on('end', () => socket.destroy());
    socket.on('close', () => {
      this.#sockets.delete(socket);
      gone.abort(new Error('ssh is no longer waiting for an answer'));
    });
    const read = (chunk: string): void => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end < 0 && text.length < LONGEST_QUESTION) return;
      socket.off('data', read).resume();
      const question = parseQuestion(text.slice(0, end), token);
      if (question === undefined) socket.destroy();
      else {
        answer({ ...question, signal: gone.signal }).then(
          (words) => {
            // One line, because the program prints it.
            const line = words?.replace(/[\r\n].*$/s, '');
            socket.end(line === undefined ? '-' : `+${line}`);
          },
          () => socket.destroy(),
        );
      }
    };
    socket.on('data', read);
  }
}

/** The question in a request; undefined if the request does not belong to this connection. */
function parseQuestion(
  line: string,
  token: string,
): Omit<AskpassQuestion, 'signal'> | undefined {
  let asked: { token?: unknown; prompt?: unknown; kind?: unknown } | null;
  try {
    asked = JSON.parse(line) as typeof asked;
  } catch {
    return undefined;
  }
  const shown = Buffer.from(String(asked?.token));
  const right = Buffer.from(token);
  if (shown.length !== right.length || !timingSafeEqual(shown, right)) return undefined;
  const { prompt, kind } = asked!;
  return {
    prompt: String(prompt),
    kind: kind === 'confirm' || kind === 'none' ? kind : 'answer',
  };
}
