/**
 * Results judged again: the runs that a result has, by the rule, the chart and the table that its figure has
 * now. A rule that was mended does not need new runs; other settings do.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Figure } from './figure.ts';
import { atFullScale } from './full-scale.ts';
import { plannedRuns } from './planned-runs.ts';
import { resultOf, type Result } from './result.ts';
import { setupOf } from './setup.ts';

/**
 * Judges by the rule of now, and notes the moment if that is another one than before.
 * @returns undefined if there is no such figure any more, or it has other settings, cases or seeds
 */
export function judgedAgain(
  result: Result,
  figures: readonly Figure[],
  at: number = Date.now(),
): Result | undefined {
  const { device, full, gradwire, measuredAt, python, seconds } = result;
  const figure = figures.find(({ id }) => id === (full?.of ?? result.figure));
  if (figure === undefined || (full !== undefined && figure.full === undefined)) {
    return undefined;
  }
  const now =
    full === undefined
      ? figure
      : atFullScale(figure, { ...full, processors: undefined }, figures);
  const isSame =
    result.setup === undefined
      ? isDeepStrictEqual(now.settings, result.settings)
      : result.setup === setupOf(now);
  const planned = plannedRuns(now)
    .map((one) => `${one.case.id} ${one.seed}`)
    .toSorted();
  const made = result.runs.map((one) => `${one.case} ${one.seed}`).toSorted();
  if (!isSame || !isDeepStrictEqual(planned, made)) return undefined;
  const runs = result.runs.map(({ label: _, ...run }) => run);
  const again = resultOf(now, runs, {
    device,
    ...(full === undefined ? {} : { full }),
    ...(python === undefined ? {} : { python }),
    gradwire,
    measuredAt,
    seconds,
  });
  const ruleChangedAt =
    result.ruleChangedAt ?? (ruleOf(again) === ruleOf(result) ? undefined : at);
  return ruleChangedAt === undefined ? again : { ...again, ruleChangedAt };
}

/** A text of all that decides a verdict, but what was measured. */
const ruleOf = ({ findings }: Result): string =>
  JSON.stringify(
    findings.map(({ kind, measured, text }) => [
      kind,
      text,
      measured.map(({ falseAt, name, trueAt }) => [name, trueAt, falseAt]),
    ]),
  );
