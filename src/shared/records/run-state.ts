/** The state of a run, as its records say it. */

export type RunState = 'starting' | 'running' | 'completed' | 'stopped' | 'failed';

export const hasEnded = (state: RunState): boolean =>
  state !== 'starting' && state !== 'running';
