/**
 * What only a person can answer while a connection is made. At most one question is open
 * at a time, whoever asks, so that two connections cannot talk over one another.
 */

export type UnknownHostReason =
  /** No key of this host is known. */
  | 'unknown'
  /** Keys of this host are known, but none of this type. */
  | 'other-type'
  /** Its known_hosts files have a certificate authority for it, no key. */
  | 'only-authority';

export interface HostKeyQuestion {
  readonly host: string;
  readonly port: number;
  /** As in known_hosts: `ssh-ed25519`, `ssh-rsa`. */
  readonly keyType: string;
  /** As ssh-keygen -l prints it: `SHA256:…`. */
  readonly fingerprint: string;
  readonly reason: UnknownHostReason;
}

export interface SecretsQuestion {
  readonly host: string;
  readonly user: string;
  readonly kind: 'password' | 'passphrase' | 'keyboard-interactive';
  readonly title?: string | undefined;
  readonly instruction?: string | undefined;
  readonly prompts: readonly SecretPrompt[];
}

export interface SecretPrompt {
  readonly text: string;
  /** Whether the answer may be shown while it is typed. */
  readonly echo: boolean;
}

/** `signal`: nobody waits for the answer any more. */
export interface SshQuestions {
  hostKey(
    question: HostKeyQuestion,
    signal?: AbortSignal,
  ): Promise<'accept' | 'refuse'>;
  /** One answer for each prompt; undefined: the user does not want to go on. */
  secrets(
    question: SecretsQuestion,
    signal?: AbortSignal,
  ): Promise<readonly string[] | undefined>;
}

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
      answer.catch(() => undefined), // the asker has the error; who is next does not care
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
