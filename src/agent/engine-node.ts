/**
 * Refuses a Node that does not run the engine. It is evaluated before everything else, and
 * must stay without imports of what an older Node lacks.
 */
import { inputError } from '../shared/errors/errors.ts';
import { isNodeAccepted, LOWEST_NODE } from '../shared/machines/lowest-node.ts';

if (!isNodeAccepted(process.versions.node)) {
  throw inputError(
    'NODE_TOO_OLD',
    `this is Node ${process.versions.node}, and gradwire/engine needs ${LOWEST_NODE}`,
    { next: `Start the program with Node ${LOWEST_NODE} or newer.` },
  );
}
