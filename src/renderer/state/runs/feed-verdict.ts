/** The verdict on a run as its page holds it: the same function as for reports and commands. */
import { verdictContext } from '../../../shared/verdict/verdict-context.ts';
import { verdict, type Verdict } from '../../../shared/verdict/verdict.ts';
import type { RunFeed } from './run-feed.svelte.ts';

/** @param cores of this computer, for runs whose records do not say how many there are */
export function feedVerdict(
  feed: RunFeed,
  cores: number | undefined,
): Verdict | undefined {
  const summary = feed.recentSummary;
  if (summary === undefined) return undefined;
  const nodes = feed.summary?.nodes ?? [];
  const ranks = feed.history?.ranks ?? 1;
  return verdict(summary, verdictContext({ events: feed.events, ranks, nodes }, cores));
}
