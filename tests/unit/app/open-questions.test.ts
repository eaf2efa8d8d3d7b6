/** Questions that wait for somebody at the app. */
import { describe, expect, test } from 'vitest';
import { OpenQuestions } from '../../../src/main/app/open-questions.ts';
import type {
  HostKeyQuestion,
  SecretsQuestion,
} from '../../../src/shared/machines/ssh-question.ts';

const hostKey: HostKeyQuestion = {
  host: 'box',
  title: 'box',
  port: 22,
  keyType: 'ssh-ed25519',
  fingerprint: 'SHA256:x',
  reason: 'unknown',
};
const secrets: SecretsQuestion = {
  host: 'box',
  port: 22,
  user: 'ada',
  kind: 'keyboard-interactive',
  prompts: [
    { text: 'Password:', echo: false },
    { text: 'Code:', echo: true },
  ],
};

function open(): { questions: OpenQuestions; seen: number[] } {
  const seen: number[] = [];
  const questions = new OpenQuestions(() => seen.push(questions.list().length));
  return { questions, seen };
}

const only = (questions: OpenQuestions): number => {
  expect(questions.list()).toHaveLength(1);
  return questions.list()[0]!.id;
};

describe('a question', () => {
  test('is listed until it is answered, and who listens hears of both', async () => {
    const { questions, seen } = open();
    const answer = questions.hostKey(hostKey);
    expect(questions.list()).toEqual([
      { id: 1, question: { type: 'host-key', ...hostKey } },
    ]);
    questions.answer(only(questions), { type: 'accept' });
    expect(await answer).toBe('accept');
    expect(seen).toEqual([1, 0]);
  });

  test('for secrets takes one answer for each prompt, and nothing else', async () => {
    const { questions } = open();
    const answer = questions.secrets(secrets);
    const id = only(questions);
    for (const wrong of [
      { type: 'accept' as const },
      { type: 'secrets' as const, answers: ['one'] },
      { type: 'secrets' as const, answers: ['one', 'two', 'three'] },
    ]) {
      expect(() => {
        questions.answer(id, wrong);
      }).toThrow(expect.objectContaining({ code: 'ANSWER_INVALID' }) as Error);
    }
    questions.answer(id, { type: 'secrets', answers: ['hunter2', '123456'] });
    expect(await answer).toEqual(['hunter2', '123456']);
    expect(JSON.stringify(questions.list())).not.toContain('hunter2');
  });

  test('about a host key is not answered by secrets', () => {
    const { questions } = open();
    void questions.hostKey(hostKey);
    expect(() => {
      questions.answer(only(questions), { type: 'secrets', answers: [] });
    }).toThrow(expect.objectContaining({ code: 'ANSWER_INVALID' }) as Error);
  });

  test('can be refused', async () => {
    const { questions } = open();
    const answers = [questions.hostKey(hostKey), questions.secrets(secrets)] as const;
    questions.refuseAll();
    expect(await Promise.all(answers)).toEqual(['refuse', undefined]);
    // The app is about to end: nobody will answer later ones either.
    expect(await questions.hostKey(hostKey)).toBe('refuse');
    expect(questions.list()).toEqual([]);
  });

  test('is answered once: the second window is told that it is gone', () => {
    const { questions } = open();
    void questions.hostKey(hostKey);
    const id = only(questions);
    questions.answer(id, { type: 'accept' });
    expect(() => {
      questions.answer(id, { type: 'accept' });
    }).toThrow(expect.objectContaining({ code: 'QUESTION_GONE' }) as Error);
  });

  test('disappears when no caller waits for it any more', async () => {
    const { questions, seen } = open();
    const controller = new AbortController();
    const answer = questions.secrets(secrets, controller.signal);
    controller.abort(new Error('given up'));
    await expect(answer).rejects.toThrow('given up');
    expect(questions.list()).toEqual([]);
    expect(seen).toEqual([1, 0]);
  });
});
