/**
 * Questions of SSH connections that wait for a user of the app. They are shown in every
 * window; the first answer counts. Answers are passed on and not kept here.
 */
import { inputError } from '../../shared/errors/errors.ts';
import type {
  HostKeyQuestion,
  OpenQuestion,
  QuestionAnswer,
  SecretsQuestion,
  SshQuestions,
} from '../../shared/machines/ssh-question.ts';

interface Waiting extends OpenQuestion {
  readonly answered: (answer: QuestionAnswer) => void;
}

export class OpenQuestions implements SshQuestions {
  readonly #changed: () => void;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  #isRefusing = false;

  /** @param changed called when a question is added or removed */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  list(): readonly OpenQuestion[] {
    return [...this.#waiting.values()].map(({ id, question }) => ({ id, question }));
  }

  async hostKey(
    question: HostKeyQuestion,
    signal?: AbortSignal,
  ): Promise<'accept' | 'refuse'> {
    const answer = await this.#ask({ type: 'host-key', ...question }, signal);
    return answer.type === 'accept' ? 'accept' : 'refuse';
  }

  async secrets(
    question: SecretsQuestion,
    signal?: AbortSignal,
  ): Promise<readonly string[] | undefined> {
    const answer = await this.#ask({ type: 'secrets', ...question }, signal);
    return answer.type === 'secrets' ? answer.answers : undefined;
  }

  /** @throws GradwireError `QUESTION_GONE`, `ANSWER_INVALID` */
  answer(id: number, answer: QuestionAnswer): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) {
      throw inputError('QUESTION_GONE', 'this question is no longer open', {
        next: 'It was answered elsewhere, or the connection was closed.',
      });
    }
    if (!fits(waiting.question, answer)) {
      throw inputError('ANSWER_INVALID', 'the answer does not match the question', {
        next: 'Answer every prompt.',
      });
    }
    waiting.answered(answer);
  }

  /** No user is left to answer, and to none that comes later. */
  refuseAll(): void {
    this.#isRefusing = true;
    for (const { answered } of this.#waiting.values()) answered({ type: 'refuse' });
  }

  #ask(
    question: OpenQuestion['question'],
    signal: AbortSignal | undefined,
  ): Promise<QuestionAnswer> {
    if (this.#isRefusing) return Promise.resolve({ type: 'refuse' });
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      const close = (): void => {
        this.#waiting.delete(id);
        signal?.removeEventListener('abort', abandon);
        this.#changed();
      };
      const abandon = (): void => {
        close();
        reject(signal!.reason as Error);
      };
      const answered = (answer: QuestionAnswer): void => {
        close();
        resolve(answer);
      };
      this.#waiting.set(id, { id, question, answered });
      signal?.addEventListener('abort', abandon, { once: true });
      this.#changed();
    });
  }
}

function fits(question: OpenQuestion['question'], answer: QuestionAnswer): boolean {
  if (answer.type === 'refuse') return true;
  if (question.type === 'host-key') return answer.type === 'accept';
  return answer.type === 'secrets' && answer.answers.length === question.prompts.length;
}
