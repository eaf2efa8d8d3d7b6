/** Asks a separate process to inspect input that may take long or crash the process. */
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import { GradwireError } from '../../../shared/errors/errors.ts';
import { errorLine } from '../../../shared/errors/last-words.ts';
import {
  checkedMessage,
  type Refusal,
} from '../../../shared/protocol/checked-message.ts';
import { encodeFrame, FrameDecoder } from '../../../shared/protocol/frame.ts';
import { memoryLimit, memoryWords, refusedMemory } from '../../memory/memory-limit.ts';
import { bundledFile } from '../../bundle/bundled-file.ts';
import { REPLIES, replySchema, type Inspections } from './inspections.ts';

interface AskOptions {
  /** Time limit in seconds. */
  readonly limitSeconds: number;
  /** The error of an inspector that ended before it answered. */
  readonly died: (why: string) => GradwireError;
}

const INSPECTOR = { bundle: 'inspector.js', source: 'inspector.ts' };
const STDERR_TAIL = 10_000;
/** Reason that there is no answer: only a program of the user's own can be it. */
const NO_ANSWER = `it writes to descriptor ${REPLIES}, which Gradwire uses itself`;

/** @throws what the inspector found; `died` */
export async function askInspector<K extends keyof Inspections>(
  kind: K,
  question: Inspections[K]['question'],
  { died, limitSeconds }: AskOptions,
): Promise<Inspections[K]['answer']> {
  // No channel of Node's: a program that writes to its descriptor would end this process.
  const file = bundledFile(INSPECTOR, import.meta.dirname);
  const child = spawn(process.execPath, [...process.execArgv, file], {
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    timeout: limitSeconds * 1000,
    killSignal: 'SIGKILL',
  });
  let stderr = '';
  // One that could not be started may have no streams; its error event follows.
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_TAIL);
  });
  const raw = await new Promise<unknown>((resolve, reject) => {
    const decoder = new FrameDecoder();
    const streams = child.stdio as readonly unknown[] | undefined;
    const replies = streams?.[REPLIES] as Readable | undefined;
    replies?.on('data', (chunk: Buffer) => {
      try {
        for (const reply of decoder.push(chunk)) resolve(reply);
      } catch {
        reject(died(NO_ANSWER));
        child.kill('SIGKILL');
      }
    });
    child.once('error', reject);
    // After the last reply.
    child.once('close', (_, signal) => {
      const why =
        child.killed && signal === 'SIGKILL'
          ? `it takes more than ${limitSeconds} s`
          : `it ended its own process${lastWords(stderr, signal)}`;
      reject(died(why));
    });
    if (child.pid === undefined) return;
    // The close event gives the reason.
    child.stdin?.on('error', () => undefined).end(encodeFrame({ kind, question }));
  });
  const reply = checkedReply(kind, raw, died);
  if ('error' in reply) throw new GradwireError(reply.error);
  return reply.answer;
}

function checkedReply<K extends keyof Inspections>(
  kind: K,
  raw: unknown,
  died: AskOptions['died'],
): z.infer<ReturnType<typeof replySchema<K>>> {
  try {
    const refusal: Refusal = { code: 'INSPECTION_INVALID', what: 'inspection' };
    return checkedMessage(replySchema(kind), raw, refusal);
  } catch {
    throw died(NO_ANSWER);
  }
}

/** The engine's own words if it has some, otherwise the signal or the last line. */
function lastWords(stderr: string, signal: NodeJS.Signals | null): string {
  const limit = memoryWords(stderr) === undefined ? undefined : memoryLimit();
  if (limit !== undefined) return `: ${refusedMemory('it', limit).message}`;
  const fatal = memoryWords(stderr) ?? /FATAL ERROR: (.*)/.exec(stderr)?.[1];
  const line = fatal ?? errorLine(stderr);
  if (line !== undefined) return `: ${line}`;
  // After an abort the last line is one of a trace.
  if (signal !== null) return ` by ${signal}`;
  const last = stderr.trim().split('\n').at(-1)!;
  return last === '' ? '' : `: ${last}`;
}
