/**
 * Stands in for `vitest` where a test file runs without its runner: collects the suites and
 * tests of the bundled file and runs them in order. `expect` is Vitest's own. Only what
 * tests/gpu uses is here; anything else is no export, so the bundler reports it.
 */
export { expect } from 'vitest';

type Body = (...values: never[]) => unknown;
type Hook = () => unknown;

interface Suite {
  readonly name: string;
  readonly parent: Suite | undefined;
  readonly members: (Suite | Test)[];
  readonly before: Hook[];
  readonly after: Hook[];
  readonly afterEach: Hook[];
  readonly skipped: boolean;
}

interface Test {
  readonly name: string;
  readonly body: Hook;
  readonly skipped: boolean;
}

export interface TestOutcome {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly error?: string;
}

const newSuite = (
  name: string,
  parent: Suite | undefined,
  skipped: boolean,
): Suite => ({
  name, parent, skipped,
  members: [], before: [], after: [], afterEach: [],
});
let current = newSuite('', undefined, false);

/** `%s`, `%i`, `%j` and `$key` of a title, as Vitest replaces them. */
function titled(title: string, values: readonly unknown[]): string {
  let next = 0;
  const [first] = values;
  return title
    .replace(/%[sij]/g, (kind) => {
      const value = values[next++];
      return kind === '%j' ? JSON.stringify(value) : String(value);
    })
    .replace(/\$(\w+)/g, (whole, key: string) =>
      typeof first === 'object' && first !== null && key in first
        ? String((first as Record<string, unknown>)[key])
        : whole,
    );
}

const bodyOf = (given: readonly unknown[]): Body =>
  given.find((one): one is Body => typeof one === 'function')!;

/** A soak test: its options come before its body. */
const isSoak = (given: readonly unknown[]): boolean =>
  given.some((one) => (one as { tags?: unknown } | null)?.tags === 'soak');

type Declare = (name: string, body: Hook, skipped: boolean) => void;

function declaring(declare: Declare) {
  const under = (skip: boolean) => {
    const plain = (name: string, ...given: unknown[]): void => {
      declare(name, bodyOf(given) as Hook, skip || isSoak(given));
    };
    const each =
      (rows: readonly unknown[]) =>
      (name: string, ...given: unknown[]): void => {
        for (const row of rows) {
          const values = Array.isArray(row) ? (row as unknown[]) : [row];
          const body = bodyOf(given);
          const call = () => body(...(values as never[]));
          declare(titled(name, values), call, skip || isSoak(given));
        }
      };
    return Object.assign(plain, { each });
  };
  return Object.assign(under(false), { skipIf: (skip: unknown) => under(Boolean(skip)) });
}

export const test = declaring((name, body, skipped) => {
  current.members.push({ name, body, skipped });
});
export const it = test;
export const describe = declaring((name, body, skipped) => {
  const parent = current;
  current = newSuite(name, parent, skipped || parent.skipped);
  parent.members.push(current);
  body();
  current = parent;
});
export const beforeAll = (hook: Hook): unknown => current.before.push(hook);
export const afterAll = (hook: Hook): unknown => current.after.push(hook);
export const afterEach = (hook: Hook): unknown => current.afterEach.push(hook);

/** Runs everything that was declared; `report` gets each test as it ends. */
export async function runCollected(report: (of: TestOutcome) => void): Promise<void> {
  await runSuite(current, '', report);
}

async function runSuite(
  suite: Suite,
  path: string,
  report: (of: TestOutcome) => void,
): Promise<void> {
  const named = (name: string): string => (path === '' ? name : `${path} > ${name}`);
  const own = suite.name === '' ? path : named(suite.name);
  let broken = suite.skipped ? undefined : await errorOf(suite.before);
  for (const member of suite.members) {
    if ('members' in member) {
      await runSuite(member, own, report);
      continue;
    }
    const name = own === '' ? member.name : `${own} > ${member.name}`;
    if (suite.skipped || member.skipped) {
      report({ name, outcome: 'skipped' });
      continue;
    }
    const each = [...outward(suite)].flatMap(({ afterEach }) => afterEach);
    const error = broken ?? (await errorOf([member.body]));
    const left = broken === undefined ? await errorOf(each) : undefined;
    const failed = error ?? left;
    report(
      failed === undefined
        ? { name, outcome: 'passed' }
        : { name, outcome: 'failed', error: failed },
    );
  }
  if (suite.skipped) return;
  broken = await errorOf(suite.after);
  if (broken !== undefined) {
    report({ name: named(`${suite.name}: afterAll`), outcome: 'failed', error: broken });
  }
}

function* outward(suite: Suite): Generator<Suite> {
  for (let one: Suite | undefined = suite; one !== undefined; one = one.parent) yield one;
}

async function errorOf(hooks: readonly Hook[]): Promise<string | undefined> {
  try {
    for (const hook of hooks) await hook();
    return undefined;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}
