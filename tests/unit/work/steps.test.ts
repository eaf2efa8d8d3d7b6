import { describe, expect, it } from 'vitest';
import {
  run,
  wait,
  waitForAll,
  type Answer,
  type Steps,
} from '../../../src/agent/work/steps.ts';

function* sum(...answers: readonly Answer<number>[]): Steps<number> {
  let total = 0;
  for (const answer of answers) total += yield* wait(answer);
  return total;
}

describe('steps', () => {
  it('that need not wait give their result at once', () => {
    expect(run(sum(1, 2, 3))).toBe(6);
    expect(run(sum())).toBe(0);
  });

  it('that wait give a promise of it', async () => {
    const result = run(sum(1, Promise.resolve(2), 3, Promise.resolve(4)));
    expect(result).toBeInstanceOf(Promise);
    expect(await result).toBe(10);
  });

  it('throw where they stand, at once or later', async () => {
    function* failing(answer: Answer<number>): Steps<number> {
      yield* wait(answer);
      throw new Error('too far');
    }
    expect(() => run(failing(1))).toThrow('too far');
    await expect(run(failing(Promise.resolve(1)))).rejects.toThrow('too far');
  });

  it('see what went wrong with an answer, and may go on', async () => {
    function* trying(answer: Answer<number>): Steps<string> {
      try {
        yield* wait(answer);
      } catch (error) {
        return `caught ${(error as Error).message}`;
      }
      return 'nothing';
    }
    const lost = Promise.reject(new Error('lost'));
    expect(await run(trying(lost))).toBe('caught lost');
    await expect(run(sum(Promise.reject(new Error('gone'))))).rejects.toThrow('gone');
  });

  it('wait for several answers together', async () => {
    function* both(answers: readonly Answer<number>[]): Steps<readonly number[]> {
      return yield* waitForAll(answers);
    }
    expect(run(both([1, 2]))).toEqual([1, 2]);
    expect(await run(both([Promise.resolve(1), 2]))).toEqual([1, 2]);
  });

  it('are resumed once for each stretch between two waits', async () => {
    const seen: string[] = [];
    function* working(): Steps<void> {
      seen.push('first');
      yield* wait(Promise.resolve());
      seen.push('second');
      yield* wait(Promise.resolve());
      seen.push('third');
    }
    await run(working(), (stretch) => {
      seen.push('(');
      try {
        return stretch();
      } finally {
        seen.push(')');
      }
    });
    expect(seen.join(' ')).toBe('( first ) ( second ) ( third )');
  });
});
