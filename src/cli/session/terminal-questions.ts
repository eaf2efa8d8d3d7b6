/**
 * Questions of an SSH connection at the terminal. Where stdin or stderr is none, or asking
 * is switched off, no questions are asked: what needs an answer fails and says so.
 */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { hostAndPort } from '../../shared/machines/destination.ts';
import { failure, inputError } from '../../shared/errors/errors.ts';
import type {
  SecretsQuestion,
  SshQuestions,
} from '../../shared/machines/ssh-question.ts';

const WHY = {
  unknown: 'This host is not known.',
  'other-type':
    'Only keys of other types are known for this host, and it offers none of those.',
  'only-authority': 'Only a certificate authority is known for this host.',
} as const;

const ANSWERS = new Map<string, 'accept' | 'refuse'>([
  ['yes', 'accept'],
  ['no', 'refuse'],
]);

/** Most time for this process to handle a signal that it sends itself. */
const SIGNAL_MS = 100;

export function terminalQuestions(): SshQuestions | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  return {
    hostKey: async ({ title, port, keyType, fingerprint, reason }, signal) => {
      process.stderr.write(
        `${WHY[reason]}\nThe ${keyType} key of ${title}, port ${port}, has the fingerprint\n` +
          `  ${fingerprint}\nCompare it with what the machine's administrator tells you.\n`,
      );
      let prompt = 'Connect, and remember the key? (yes/no) ';
      for (;;) {
        const answer = await ask(prompt, true, signal);
        const known = ANSWERS.get(answer.trim().toLowerCase());
        if (known !== undefined) return known;
        prompt = 'Type yes or no: ';
      }
    },
    secrets: async ({ user, host, title, instruction, prompts }, signal) => {
      for (const text of [title, instruction]) {
        if (text !== undefined && text !== '') process.stderr.write(`${text}\n`);
      }
      const answers: string[] = [];
      for (const { text, echo } of prompts) {
        answers.push(await ask(`${user}@${host}: ${text.trim()} `, echo, signal));
      }
      return answers;
    },
  };
}

/** PAM and others ask for codes without echo, too. */
const ASKS_FOR_CODE =
  /one.?time|verif|code|token|otp|\bpin\b|factor|new|current|expired/i;

/**
 * The first line of stdin as the password of the machine itself, or as the passphrase of a
 * key, which stays here. It is sent once: a second prompt means that it was refused, and
 * more attempts might lock the account. Jump hosts do not get it, and neither do prompts
 * that are not for a password alone. No user is there to compare fingerprints.
 */
export function passwordFromStdin(read = firstLine): SshQuestions {
  let line: Promise<string> | undefined;
  const answered = new Set<string>();
  const password = async (place: string): Promise<string> => {
    line ??= read();
    const answer = await line;
    if (answer !== '') return answer;
    throw inputError('PASSWORD_MISSING', 'stdin has no password', {
      place,
      next: 'Write it to stdin as one line.',
    });
  };
  return {
    secrets: async (question) => {
      const { user, host, port, kind, prompts, jump } = question;
      if (prompts.length === 0) return []; // something to do, such as a touch
      const place = `${user}@${hostAndPort(host, port)}`;
      const text = prompts.map((prompt) => prompt.text).join(' ');
      const asker = kind === 'passphrase' ? text : place;
      const isFirst = !answered.has(asker);
      if (kind === 'passphrase') {
        answered.add(asker);
        // A wrong one: an empty one makes the next key or method be tried.
        return [isFirst ? await password(place) : ''];
      }
      if (jump === true || !isForPassword(question)) {
        const whose = jump === true ? 'a jump host' : 'the server';
        throw failure('SSH_AUTH_NEEDED', `${whose} asks “${text}”`, {
          place,
          next:
            '--password-stdin gives only the machine’s own password. ' +
            'Use a key, an agent, or a terminal without that option.',
        });
      }
      if (!isFirst) {
        throw failure('SSH_PASSWORD_REFUSED', 'the password from stdin was refused', {
          place,
          next: 'Give the right password, or omit --password-stdin to be prompted.',
        });
      }
      answered.add(asker);
      return [await password(place)];
    },
  };
}

function isForPassword({ kind, prompts }: SecretsQuestion): boolean {
  if (kind === 'password') return true;
  const [only, ...others] = prompts;
  return (
    only !== undefined &&
    others.length === 0 &&
    !only.echo &&
    /password/i.test(only.text) &&
    !ASKS_FOR_CODE.test(only.text)
  );
}

async function firstLine(): Promise<string> {
  const lines = createInterface({ input: process.stdin });
  try {
    for await (const line of lines) return line;
    return '';
  } finally {
    lines.close();
  }
}

/**
 * Answers typed without echo are never shown. Readline removes its own listeners when it is
 * closed: one that is left would show what is typed at the next prompt.
 */
function ask(prompt: string, echo: boolean, signal?: AbortSignal): Promise<string> {
  const output = new Writable({
    write: (chunk: Buffer, _, done) => {
      if (echo) process.stderr.write(chunk);
      done();
    },
  });
  process.stderr.write(prompt);
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const aborted = (): void => {
    reject(signal!.reason as Error);
    lines.close();
  };
  signal?.addEventListener('abort', aborted);
  lines.once('line', (line) => {
    resolve(line);
    lines.close();
  });
  // Ctrl-D, or a terminal that went away; otherwise it is settled.
  const unanswered = (): void => {
    reject(
      failure('SSH_AUTH_CANCELLED', 'the prompt was not answered', {
        next: 'Connect again when you have the answer.',
      }),
    );
  };
  lines.once('SIGINT', () => {
    // The signal ends the command. One that handles it has done so when the prompt fails.
    process.kill(process.pid, 'SIGINT');
    setTimeout(() => {
      lines.close();
    }, SIGNAL_MS);
  });
  lines.once('close', unanswered);
  lines.once('close', () => {
    signal?.removeEventListener('abort', aborted);
    if (!echo) process.stderr.write('\n');
  });
  return promise;
}
