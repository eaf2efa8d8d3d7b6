/** Whether Node is deployed to a machine. */
import { isNodeAccepted } from '../../shared/machines/lowest-node.ts';
import type { Preflight } from '../../shared/machines/preflight.ts';
import type { Installed } from './installed.ts';

/** Findings of machines on which the deployed Node does not run. */
const UNFIT: ReadonlySet<string> = new Set([
  ...['GLIBC_TOO_OLD', 'LIBC_UNSUPPORTED', 'LIBRARY_MISSING'],
]);

export interface NodeChoice {
  readonly brings: boolean;
  /** Whether the machine has no other. */
  readonly needs: boolean;
}

export interface ChoiceQuestions {
  /** Whether this version's agent was deployed there without Node. */
  readonly isWithout: () => Promise<boolean>;
  /** The preflight of a machine to which Node is deployed. */
  readonly inspect: () => Promise<Pick<Preflight, 'findings'>>;
}

/**
 * Chooses whether to deploy Node. A login node's own Node need not be on the compute nodes, which
 * share only the home: Slurm's ranks get the deployed one, wherever it runs.
 * @param slurm whether it is a login node of Slurm
 */
export async function chooseNode(
  { node, runtimes }: Pick<Installed, 'node' | 'runtimes'>,
  slurm: boolean,
  { isWithout, inspect }: ChoiceQuestions,
): Promise<NodeChoice> {
  const needs = !isNodeAccepted(node);
  if (needs || !slurm) return { brings: needs, needs };
  if (runtimes.length > 0) return { brings: true, needs };
  // An inspection takes long, and this is asked at every connection.
  if (await isWithout()) return { brings: false, needs };
  const { findings } = await inspect();
  return { brings: !findings.some(({ code }) => UNFIT.has(code)), needs };
}
