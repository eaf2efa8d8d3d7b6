/** The sweep that a page asks for: its points, checked. */
import type { ExpandedSweep } from '../../shared/sweep/sweep-points.ts';
import type { SweepRequest } from '../../shared/sweep/sweep-request.ts';
import { userHome } from '../home/user-home.ts';
import { parseSpecText } from '../spec/spec-source.ts';
import { sweepOf } from '../spec/sweep-source.ts';
import { checkedSweep, type SpecChecker } from './checked-sweep.ts';

/** @throws GradwireError the first problem, with the point and its values in the place */
export async function requestedSweep(
  checker: SpecChecker,
  request: SweepRequest,
): Promise<ExpandedSweep> {
  const raw = parseSpecText(request.spec, 'spec');
  const { atOnce, seeds, vary } = request;
  const definition = sweepOf({ base: raw }, 'sweep', { set: [], vary, seeds, atOnce });
  // As in a launch, relative paths begin at the user's home.
  return await checkedSweep(checker, definition, userHome());
}
