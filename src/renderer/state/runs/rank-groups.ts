/** Ranks of a run by machine, as its page groups them. */
import type { RankMeans } from './rank-waits.ts';
import { FEW_RANKS } from './shown-ranks.ts';

/** Machines that are listed until the user asks for all. */
const FIRST = 16;

/** A machine of a run and its ranks, ascending. */
interface RankGroup {
  readonly node: string;
  readonly ranks: readonly number[];
}

/**
 * The machines in the order of their first ranks; empty if there is but one.
 * @param nodes by rank, as `rankNodes` has them
 */
export function rankGroups(
  ranks: number,
  nodes: ReadonlyMap<number, string>,
): readonly RankGroup[] {
  const groups = Map.groupBy(
    Array.from({ length: ranks }, (_, rank) => rank),
    (rank) => nodes.get(rank) ?? 'no machine yet',
  );
  if (groups.size < 2) return [];
  return [...groups].map(([node, own]) => ({ node, ranks: own }));
}

const hasOne = (
  { ranks }: RankGroup,
  needed: readonly (number | undefined)[],
): boolean => needed.some((rank) => rank !== undefined && ranks.includes(rank));

/**
 * The machines that are listed: the first ones, and those of ranks that must be in view, such as the
 * straggler that a text names.
 * @param all whether the user has asked for all
 */
export const listedGroups = (
  groups: readonly RankGroup[],
  {
    all,
    needed,
  }: { readonly all: boolean; readonly needed: readonly (number | undefined)[] },
): readonly RankGroup[] =>
  groups.filter((group, index) => all || index < FIRST || hasOne(group, needed));

/**
 * The machines whose ranks are shown until the user opens or folds them: the first one, others as long
 * as that makes few ranks, and those of ranks that must be in view.
 */
export function openNodes(
  groups: readonly RankGroup[],
  needed: readonly (number | undefined)[],
): ReadonlySet<string> {
  const open = new Set<string>();
  let shown = 0;
  for (const [index, group] of groups.entries()) {
    shown += group.ranks.length;
    if (index === 0 || shown <= FEW_RANKS || hasOne(group, needed))
      open.add(group.node);
  }
  return open;
}

/** The mean over ranks of their step and wait; undefined if none of them is known. */
export function meansOfRanks(
  ranks: readonly (RankMeans | undefined)[],
): RankMeans | undefined {
  const known = ranks.filter((one) => one !== undefined && !Number.isNaN(one.wall));
  if (known.length === 0) return undefined;
  let [wall, wait] = [0, 0];
  for (const one of known) {
    wall += one!.wall / known.length;
    wait += one!.wait / known.length;
  }
  return { wall, wait };
}
