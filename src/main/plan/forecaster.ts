/**
 * The forecaster of a page or a command: a process of the agent that predicts steps. It starts with
 * the first question and ends when it is closed, or a minute after the last answer.
 */
import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { failure, GradwireError, toErrorData } from '../../shared/errors/errors.ts';
import { errorLine } from '../../shared/errors/last-words.ts';
import { AGAIN } from '../../shared/errors/report-advice.ts';
import {
  forecastReplySchema,
  type ForecastAnswer,
  type ForecastQuestion,
} from '../../shared/forecast/forecast-question.ts';
import { checkedMessage } from '../../shared/protocol/checked-message.ts';
import type { Home } from '../home/home.ts';
import { agentBundle, appVersion, installationRoot } from '../home/installation.ts';
import { nodeBinary } from '../home/node-binary.ts';

const IDLE_MS = 60_000;
const STDERR_TAIL = 10_000;
/** Advice after an end by a signal, as by the system where memory runs out, or by V8. */
const MEMORY = 'Ask again; if it happens again, the machine may be out of memory.';

/** Sources start sources, so that what was registered in them is known there, too. */
const forecasterFile = (): string =>
  import.meta.filename.endsWith('.ts')
    ? path.join(installationRoot(), 'src/agent/forecast/forecaster.ts')
    : agentBundle('forecaster.js');

interface Waiting {
  readonly resolve: (answer: ForecastAnswer) => void;
  readonly reject: (error: Error) => void;
}

export class Forecaster implements Disposable {
  readonly #home: Pick<Home, 'rehearsals'>;
  readonly #waiting = new Map<number, Waiting>();
  #child: ChildProcess | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;

  constructor(home: Pick<Home, 'rehearsals'>) {
    this.#home = home;
  }

  /**
   * Questions are answered one after another.
   * @throws GradwireError `FORECASTER_LOST`; what is wrong with the spec
   */
  ask(question: ForecastQuestion): Promise<ForecastAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<ForecastAnswer>();
    try {
      clearTimeout(this.#idle);
      const id = this.#asked++;
      this.#waiting.set(id, { resolve, reject });
      this.#child ??= this.#start();
      // Whether it has arrived is known by the reply, or by the end of the process.
      this.#child.send({ id, question }, () => undefined);
    } catch (error) {
      reject(error as Error);
    }
    return promise;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#idle);
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  #start(): ChildProcess {
    const child = fork(forecasterFile(), [this.#home.rehearsals, appVersion()], {
      execPath: nodeBinary(),
      execArgv: [],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-STDERR_TAIL);
    });
    child.on('message', (raw) => {
      try {
        this.#receive(raw);
      } catch (error) {
        const { message, next } = toErrorData(error);
        this.#lost(child, message, next);
        child.kill('SIGKILL');
      }
    });
    child.once('error', (error) => this.#lost(child, error.message));
    child.once('close', (code, signal) => {
      const how = signal === null ? `with code ${code}` : `by ${signal}`;
      const words = errorLine(stderr) ?? stderr.trim().split('\n').at(-1)!;
      const why = `it ended ${how}${words === '' ? '' : `: ${words}`}`;
      this.#lost(child, why, signal === null ? AGAIN : MEMORY);
    });
    return child;
  }

  #receive(raw: unknown): void {
    const refusal = { code: 'REPLY_INVALID', what: 'a forecast' } as const;
    const { id, answer, error } = checkedMessage(forecastReplySchema, raw, refusal);
    // Nothing caught it, so it may belong to any question.
    if (id === undefined) throw new GradwireError(error!);
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (answer !== undefined) waiting?.resolve(answer);
    else if (error !== undefined) waiting?.reject(new GradwireError(error));
    if (this.#waiting.size > 0) return;
    this.#idle = setTimeout(() => this[Symbol.dispose](), IDLE_MS);
    this.#idle.unref();
  }

  #lost(child: ChildProcess, why: string, next = AGAIN): void {
    if (this.#child === child) this.#child = undefined;
    if (this.#child !== undefined) return;
    for (const { reject } of this.#waiting.values()) {
      reject(
        failure('FORECASTER_LOST', `the process that predicts steps is lost: ${why}`, {
          next,
        }),
      );
    }
    this.#waiting.clear();
  }
}
