/**
 * What only a person can answer while a connection is made. At most one question is open
 * at a time, from any caller, so that questions of two connections do not mix.
 */

import type { SshQuestions } from '../../shared/ssh-question.ts';

/** The end of the last question of each asker. */
const queues = new WeakMap<SshQuestions, Promise<unknown>>();

/** The same questions, each asked when the one before it has been answered. */
export function oneAtATime(questions: SshQuestions): SshQuestions {
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
    hostKey: (question, signal) =>
      ask(() => questions.hostKey(question, signal), signal),
    secrets: (question, signal) =>
      ask(() => questions.secrets(question, signal), signal),
  };
}

/** As the promise, but rejects with the signal's reason when that comes first. */
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
