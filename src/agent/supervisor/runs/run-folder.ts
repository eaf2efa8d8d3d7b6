/**
 * The folder of a run in `runs`: which of those without a complete run are ours to remove.
 * A launch makes the folder, writes `run.json` beside its draft, then the journal; a removal
 * goes the other way. A crash in between leaves a folder with nothing recorded, and nothing
 * else in it. Whatever looks different somebody else put there, and it stays.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { runIdSchema } from '../../../shared/checks/run-id.ts';
import { META, parseMeta } from './run-meta.ts';

export const JOURNAL = 'journal.gwj';

const DRAFT = `${META}.draft`;

export type FolderKind = 'run' | 'half made' | 'foreign';

export function folderKind(folder: string): FolderKind {
  let names: readonly string[];
  try {
    names = readdirSync(folder);
  } catch {
    return 'foreign'; // no directory, or another user's
  }
  if (!runIdSchema.safeParse(path.basename(folder)).success) return 'foreign';
  if (names.includes(META) && names.includes(JOURNAL)) return 'run';
  const isBare = names.every((name) => name === META || name === DRAFT);
  if (!isBare) return 'foreign';
  return !names.includes(META) || isOurs(path.join(folder, META))
    ? 'half made'
    : 'foreign';
}

function isOurs(meta: string): boolean {
  try {
    parseMeta(readFileSync(meta, 'utf8'), meta);
    return true;
  } catch {
    return false;
  }
}

/**
 * Removes a run. Whatever is left if this is cut short is half made, or a run with everything it
 * needs.
 */
export function removeRun(folder: string): void {
  const remove = (name: string): void => {
    rmSync(path.join(folder, name), { recursive: true, force: true });
  };
  const others = readdirSync(folder).filter(
    (name) => name !== META && name !== JOURNAL,
  );
  for (const name of others) remove(name);
  remove(JOURNAL);
  rmSync(folder, { recursive: true, force: true });
}
