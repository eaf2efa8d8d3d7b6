/** The check of a launch from a raw spec on, for tests that write specs as users do. */
import { validateLaunch, type Launch } from '../../src/agent/launch/validate-launch.ts';
import { parseExperimentSpec } from '../../src/shared/spec/experiment-spec.ts';

type Rest = Parameters<typeof validateLaunch> extends [unknown, ...infer R] ? R : never;

/** @throws GradwireError of the parser, or of the launch's checks */
export const checkedLaunch = (raw: unknown, ...rest: Rest): Launch =>
  validateLaunch(parseExperimentSpec(raw), ...rest);
