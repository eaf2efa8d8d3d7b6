/**
 * Work that may have to wait, written once for backends that answer at once and for those
 * that answer later. A generator yields every promise that it needs, and its runner
 * waits. On a CPU only messages to other ranks are yielded; on a GPU commands are
 * enqueued between two waits.
 *
 * Cost: some tens of nanoseconds for each generator.
 */

/** A result at once, or later. */
export type Answer<T> = T | Promise<T>;

/** Yields promises and receives their results. */
export type Steps<T> = Generator<Promise<unknown>, T, unknown>;

type Step<T> = IteratorResult<Promise<unknown>, T>;

/** Calls its argument once for each stretch of work between two waits. */
export type Resume = <R>(stretch: () => R) => R;

/** The answer, waiting if it comes later: `yield* wait(answer)`. */
export function* wait<T>(answer: Answer<T>): Steps<T> {
  return answer instanceof Promise ? ((yield answer) as T) : answer;
}

/** Whether work has to wait. */
export function isSteps<T extends object>(work: T | Steps<unknown>): work is Steps<T> {
  return (work as Partial<Steps<unknown>>).next !== undefined;
}

/**
 * Continues after an answer: at once if the answer is there, otherwise as steps. Saves a generator
 * where nothing waits.
 */
export function follow<T extends object, R extends object>(
  answer: Answer<T> | Steps<T>,
  next: (value: T) => R | Steps<R>,
): R | Steps<R> {
  return answer instanceof Promise || isSteps(answer)
    ? followLater(answer, next)
    : next(answer);
}

function* followLater<T extends object, R extends object>(
  answer: Promise<T> | Steps<T>,
  next: (value: T) => R | Steps<R>,
): Steps<R> {
  const value = answer instanceof Promise ? ((yield answer) as T) : yield* answer;
  const result = next(value);
  return isSteps(result) ? yield* result : result;
}

/** All of several answers, requested at once. */
export function* waitForAll<T>(answers: readonly Answer<T>[]): Steps<readonly T[]> {
  const later = answers.some((answer) => answer instanceof Promise);
  return later
    ? ((yield Promise.all(answers)) as readonly T[])
    : (answers as readonly T[]);
}

/**
 * Runs all steps. The result is immediate if nothing had to be waited for.
 * @param resume wraps each stretch of work, for a stopwatch
 */
export function run<T>(steps: Steps<T>, resume?: Resume): Answer<T> {
  const first = resume === undefined ? steps.next() : resume(() => steps.next());
  return first.done === true ? first.value : runOn(steps, first.value, resume);
}

async function runOn<T>(
  steps: Steps<T>,
  first: Promise<unknown>,
  resume: Resume | undefined,
): Promise<T> {
  let awaited = first;
  for (;;) {
    const next = await awaited.then(
      (value) => (): Step<T> => steps.next(value),
      (error: unknown) => (): Step<T> => steps.throw(error),
    );
    const step = resume === undefined ? next() : resume(next);
    if (step.done === true) return step.value;
    awaited = step.value;
  }
}
