/** What a switch did to the state that methods and collectives keep beside the residual. */
import type { SwitchRecord } from './records.ts';

/** In words; undefined where there was none or nobody knows. */
export function describeState({
  state,
  stateDropped = [],
}: Pick<SwitchRecord, 'state' | 'stateDropped'>): string | undefined {
  switch (state) {
    case undefined:
    case 'none':
      return undefined;
    case 'kept':
      return 'state kept';
    case 'partly':
      return `state partly dropped (${stateDropped.join(', ')})`;
    case 'dropped':
      return `state dropped (${stateDropped.join(', ')})`;
    default:
      return state satisfies never;
  }
}
