/** Asks a separate process to inspect input that may take long or crash the process. */
import { fork } from 'node:child_process';
import { GradwireError, type ErrorData } from '../../../shared/errors.ts';
import { bundledFile } from '../../bundle/bundled-file.ts';
import type { ModelSource } from '../models/model-file.ts';
import type { MultiplyAdds } from './count-multiply-adds.ts';
import type { DataFacts, DataQuestion, ModelFacts } from '../workload.ts';

/** Requests to the inspector, and its answers. */
export interface Inspections {
  /** A model from a file, which is an arbitrary program. */
  model: { readonly question: ModelSource; readonly answer: ModelFacts };
  /** The work of such a model's forward pass. */
  work: { readonly question: ModelSource; readonly answer: MultiplyAdds };
  /** A data set whose files have to be read whole. */
  data: {
    readonly question: {
      readonly workload: DataQuestion;
      readonly own?: ModelFacts | undefined;
    };
    readonly answer: DataFacts;
  };
}

export type InspectorRequest = {
  readonly [K in keyof Inspections]: {
    readonly kind: K;
    readonly question: Inspections[K]['question'];
  };
}[keyof Inspections];

export type InspectorReply =
  { readonly answer: unknown } | { readonly error: ErrorData };

interface AskOptions {
  /** Time limit in seconds. */
  readonly limitSeconds: number;
  /** The error of an inspector that ended before it answered. */
  readonly died: (why: string) => GradwireError;
}

const INSPECTOR = { bundle: 'inspector.js', source: 'inspector.ts' };
const STDERR_TAIL = 10_000;

/** @throws what the inspector found; `died` */
export async function askInspector<K extends keyof Inspections>(
  kind: K,
  question: Inspections[K]['question'],
  { died, limitSeconds }: AskOptions,
): Promise<Inspections[K]['answer']> {
  const child = fork(bundledFile(INSPECTOR, import.meta.dirname), {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    timeout: limitSeconds * 1000,
    killSignal: 'SIGKILL',
  });
  let stderr = '';
  // One that could not be started may have no streams; its error event follows.
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_TAIL);
  });
  const reply = await new Promise<InspectorReply>((resolve, reject) => {
    child.once('message', (message) => {
      resolve(message as InspectorReply);
    });
    child.once('error', reject);
    // After the last message.
    child.once('close', (_, signal) => {
      const why =
        child.killed && signal === 'SIGKILL'
          ? `it takes more than ${limitSeconds} s`
          : `it ended its own process${lastWords(stderr, signal)}`;
      reject(died(why));
    });
    if (child.pid === undefined) return;
    child.send({ kind, question }, (error) => {
      // The close event gives the reason.
      if (error !== null) child.kill();
    });
  });
  if ('error' in reply) throw new GradwireError(reply.error);
  return reply.answer as Inspections[K]['answer'];
}

/** The engine's own words if it has some, otherwise the last line. */
function lastWords(stderr: string, signal: NodeJS.Signals | null): string {
  const fatal = /FATAL ERROR: (.*)/.exec(stderr)?.[1];
  const line = fatal ?? stderr.trim().split('\n').at(-1)!;
  if (line !== '') return `: ${line}`;
  return signal === null ? '' : ` by ${signal}`;
}
