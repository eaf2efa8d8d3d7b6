/** Earlier verdicts for pages: from the definition, as a result does not know what comes after it. */
import type { Result } from '../result.ts';
import { figures } from './registry.ts';

/** Returns the lines of a result's figure; none at full scale, whose verdicts are others. */
export const historyOf = ({
  figure,
  full,
}: Pick<Result, 'figure' | 'full'>): readonly string[] =>
  (full === undefined ? figures.find(({ id }) => id === figure)?.history : undefined) ??
  [];
