/** Questions come one after the other, and a deadline stands still while one is open. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PausableDeadline } from '../../../src/main/ssh/deadline.ts';
import { oneAtATime } from '../../../src/main/ssh/questions.ts';
import type {
  SecretsQuestion,
  SshQuestions,
} from '../../../src/shared/machines/ssh-question.ts';

const question: SecretsQuestion = {
  host: 'node',
  port: 22,
  user: 'ada',
  kind: 'password',
  prompts: [{ text: 'Password:', echo: false }],
};

/** Questions whose answers the test gives. */
function asker() {
  const open: ((answers: readonly string[] | undefined) => void)[] = [];
  const questions: SshQuestions = {
    hostKey: () => Promise.resolve('refuse'),
    secrets: () => new Promise((resolve) => open.push(resolve)),
  };
  return { open, questions };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('questions', () => {
  it('are asked one at a time for all callers', async () => {
    const { open, questions } = asker();
    const first = oneAtATime(questions).secrets(question);
    const second = oneAtATime(questions).secrets(question);
    await turn();
    expect(open).toHaveLength(1);
    open[0]!(['one']);
    expect(await first).toEqual(['one']);
    await turn();
    expect(open).toHaveLength(2);
    open[1]!(undefined);
    expect(await second).toBeUndefined();
  });

  it('make room for the next when no caller waits for them any more', async () => {
    const { open, questions } = asker();
    const controller = new AbortController();
    const first = oneAtATime(questions).secrets(question, controller.signal);
    const second = oneAtATime(questions).secrets(question);
    await turn();
    controller.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    await turn();
    open[1]!(['two']);
    expect(await second).toEqual(['two']);
  });

  it('are not asked if no caller waits for them by then', async () => {
    const { open, questions } = asker();
    const controller = new AbortController();
    const first = oneAtATime(questions).secrets(question);
    const second = oneAtATime(questions).secrets(question, controller.signal);
    controller.abort(new Error('gone'));
    await turn();
    open[0]!([]);
    await first;
    await expect(second).rejects.toThrow('gone');
    expect(open).toHaveLength(1);
  });
});

describe('a deadline', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('stands still while something is waited for', async () => {
    const expire = vi.fn();
    const deadline = new PausableDeadline(1000, expire);
    vi.advanceTimersByTime(600);
    let answer: () => void = () => undefined;
    const asked = deadline.during(new Promise<void>((resolve) => (answer = resolve)));
    vi.advanceTimersByTime(60_000);
    expect(expire).not.toHaveBeenCalled();
    answer();
    await asked;
    vi.advanceTimersByTime(399);
    expect(expire).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(expire).toHaveBeenCalledOnce();
  });

  it('stands still until the last of several has ended', async () => {
    const expire = vi.fn();
    const deadline = new PausableDeadline(1000, expire);
    const never = new Promise<void>(() => undefined);
    void deadline.during(never);
    await deadline.during(Promise.resolve());
    vi.advanceTimersByTime(5000);
    expect(expire).not.toHaveBeenCalled();
  });

  it('does not come once it is cleared, nor after a question', async () => {
    const expire = vi.fn();
    const deadline = new PausableDeadline(1000, expire);
    const asked = deadline.during(Promise.resolve());
    deadline.clear();
    await asked;
    vi.advanceTimersByTime(5000);
    expect(expire).not.toHaveBeenCalled();
  });
});
