/**
 * Questions that only the user can answer while a connection is made. At most one is
 * open at a time, so that questions of two connections do not mix.
 */

import type { SshQuestions } from '../../shared/machines/ssh-question.ts';

/** The settling of each asker's last question. */
const queues = new WeakMap<SshQuestions, Promise<unknown>>();

/** The same questions, each asked after the one before has been answered. */
export function oneAtATime(questions: SshQuestions): Required<SshQuestions> {
  const ask = <T>(
    question: () => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> => {
    const before = queues.get(questions) ?? Promise.resolve();
    const answer = before.then(async () => {
      signal?.throwIfAborted();
      return await untilAborted(question(), signal);
    });
    queues.set(
      questions,
      answer.catch(() => undefined), // the caller has the error; the next question is unaffected
    );
    return answer;
  };
  return {
    hostKey: (question, signal) => {
      if (questions.hostKey === undefined) throw new Error('internal: nobody to ask');
      return ask(() => questions.hostKey!(question, signal), signal);
    },
    secrets: (question, signal) =>
      ask(() => questions.secrets(question, signal), signal),
  };
}

/** Awaits the promise, but rejects with the signal's reason if that comes first. */
export async function untilAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return await promise;
  signal.throwIfAborted();
  let abandon: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abandon = () => {
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', abandon, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abandon);
  }
}
