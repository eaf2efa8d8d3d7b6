/**
 * The stream between an app and a machine that SSH reaches: `attach` as built, which is started
 * there, between stdin and stdout and a supervisor. Whatever comes in ends nothing but that
 * stream. What the app makes of what comes out: tests/unit/main/control-door.test.ts.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeFrame, FrameDecoder } from '../../../src/shared/protocol/frame.ts';
import { effort, seed } from '../../harness/effort.ts';
import { mangled, mutant, oneOf } from '../../harness/mutations.ts';
import { generator } from '../collectives/run-collective.ts';
import { REAL, request } from './real-requests.ts';

const ENTRY = path.join(import.meta.dirname, '../../../dist/agent/attach.js');
const MARKER = 'gradwire-attach-door';

let base: string;
/** Of the supervisor, which ends with its last client. */
let keeper: Attached;

beforeAll(async () => {
  base = path.join(mkdtempSync(path.join(tmpdir(), 'gradwire-attach-')), '.gradwire');
  mkdirSync(base);
  keeper = await Attached.open();
});
afterAll(async () => {
  await keeper?.leave();
  rmSync(path.dirname(base), { recursive: true, force: true, maxRetries: 20 });
});

interface Answer {
  readonly type: string;
  readonly id?: number;
  readonly pid?: number;
  readonly error?: { readonly code: string; readonly message: string };
}

/** One `attach`, and the test as the app at its other end. */
class Attached {
  /** The id of the supervisor's process. */
  pid = 0;
  /** Of the errors so far; of our own faults with what they say. */
  readonly codes = new Set<string>();
  readonly #child: ChildProcess;
  readonly #closed: Promise<number | null>;
  readonly #answers = new Map<number, Answer>();
  #news = Promise.withResolvers<undefined>();

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#closed = new Promise((resolve) => child.once('close', resolve));
    child.stdin!.on('error', () => undefined);
    const decoder = new FrameDecoder();
    let noise: Buffer | undefined = Buffer.alloc(0);
    child.stdout!.on('data', (chunk: Buffer) => {
      let rest = chunk;
      if (noise !== undefined) {
        noise = Buffer.concat([noise, chunk]);
        const at = noise.indexOf(`${MARKER}\n`);
        if (at < 0) return;
        rest = noise.subarray(at + MARKER.length + 1);
        noise = undefined;
      }
      for (const raw of decoder.push(rest)) this.#take(raw as Answer);
    });
  }

  static async open(): Promise<Attached> {
    const about = ['--base', base, '--agent', 'a', '--marker', MARKER];
    const child = spawn(process.execPath, [ENTRY, ...about], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, HOME: path.dirname(base) },
    });
    const attached = new Attached(child);
    await attached.#until(() => attached.pid > 0);
    expect(attached.pid).toBeGreaterThan(0);
    return attached;
  }

  write(bytes: Uint8Array): void {
    this.#child.stdin!.write(bytes);
  }

  /** Whether the stream still answers. */
  async ping(id: number): Promise<boolean> {
    this.write(encodeFrame({ ...request, id, method: 'ping', body: {} }));
    await this.#until(() => this.#answers.has(id));
    return this.#answers.has(id);
  }

  /** Its exit code. */
  async leave(): Promise<number | null> {
    this.#child.stdin!.end();
    return await this.#closed;
  }

  async #until(met: () => boolean): Promise<void> {
    let closed = false;
    void this.#closed.then(() => (closed = true));
    while (!met() && !closed) await Promise.race([this.#news.promise, this.#closed]);
  }

  #take(answer: Answer): void {
    if (answer.type === 'hello') this.pid = answer.pid!;
    if (answer.id !== undefined) this.#answers.set(answer.id, answer);
    const { code, message } = answer.error ?? {};
    if (code !== undefined) this.codes.add(code === 'INTERNAL' ? message! : code);
    this.#news.resolve(undefined);
    this.#news = Promise.withResolvers();
  }
}

const MESSAGES = effort({ quick: 400, soak: 100_000 });
/** Of one stream, until one of them ends it. */
const LONGEST = effort({ quick: 100, soak: 1000 });
const LAST = 2 ** 40;

test(`${MESSAGES} messages through attach that are nearly real`, async () => {
  const random = generator(seed);
  const codes = new Set<string>();
  let [sent, answering] = [0, 0];
  while (sent < MESSAGES) {
    const attached = await Attached.open();
    // The same one: no stream has ended it.
    expect(attached.pid).toBe(keeper.pid);
    for (let id = 0; id < LONGEST; id++) {
      // Most keep their id, so that the stream is not closed at once.
      const message = {
        type: 'request',
        ...(mutant(random, oneOf(random, REAL)) as object),
      };
      attached.write(encodeFrame({ ...message, id }));
    }
    sent += LONGEST;
    if (await attached.ping(LAST)) answering++;
    // The last one may end it, or leave it waiting for the rest of a frame.
    const real = { ...request, ...oneOf(random, REAL) };
    if (random() < 0.5) attached.write(mangled(random, encodeFrame(real)));
    else attached.write(encodeFrame(mutant(random, real)));
    sent++;
    expect([0, 1]).toContain(await attached.leave());
    for (const code of attached.codes) codes.add(code);
  }
  expect(answering).toBeGreaterThan(0);
  expect([...codes].filter((code) => !/^[A-Z_]+$/.test(code))).toEqual([]);
  expect(codes).toContain('REQUEST_INVALID');
  expect(await keeper.ping(LAST)).toBe(true);
});
