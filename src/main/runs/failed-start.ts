/** The end of a start that has failed: last records of its journals, and ranks that still run. */
import { GradwireError, type ErrorData } from '../../shared/errors/errors.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import type { RunFollowers } from './run-followers.ts';

/** Most time for the record of a failed launch to arrive from the journal. */
const LAST_RECORD_MS = 3000;

/**
 * Settles a failed start: waits a moment for the last records of the run's journals, if any,
 * and ends ranks that still run, for the reason why the start failed.
 * @param ended resolves once the run's last record is stored
 */
export async function settleFailedStart(
  followers: RunFollowers,
  links: readonly NodeLink[],
  id: string,
  reason: ErrorData,
  ended: Promise<RunSummary>,
): Promise<void> {
  const late = Promise.withResolvers<null>();
  const patience = setTimeout(() => {
    late.resolve(null);
  }, LAST_RECORD_MS);
  try {
    const known = await Promise.all(
      links.map((link) => settleNode(followers, link, id, reason)),
    );
    // A run that cannot be followed to its end has failed for the reason of the start.
    const over = ended.catch(() => null);
    if (known.includes(true)) await Promise.race([over, late.promise]);
  } finally {
    clearTimeout(patience);
    followers.drop(id);
  }
}

/**
 * Ends the run on the node, also while it is being prepared there, and follows its journal;
 * returns whether there is one.
 */
async function settleNode(
  followers: RunFollowers,
  link: NodeLink,
  id: string,
  error: ErrorData,
): Promise<boolean> {
  const { connection } = link;
  try {
    // Not stopped: its journal names the cause, whichever machine that is on.
    await connection
      ?.request('abort', { run: id, error }, LAST_RECORD_MS)
      .catch(ignoreUnknown);
    const reply = await connection?.request('runs', {}, LAST_RECORD_MS);
    if (reply?.runs.some(({ run }) => run === id) !== true) return false;
    await followers.follow(link, id);
    return true;
  } catch (thrown) {
    // The error of the start is the one to report; this one only says that no record
    // comes, or that the run has ended meanwhile.
    if (!(thrown instanceof GradwireError)) throw thrown;
    return false;
  }
}

/** The node has not been asked for ranks, or has ended the run itself. */
function ignoreUnknown(error: unknown): void {
  if (!(error instanceof GradwireError) || error.code !== 'RUN_UNKNOWN') throw error;
}
