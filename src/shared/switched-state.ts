/** What a switch did to the state that methods and collectives keep besides the residual. */
import type { SwitchRecord } from './records.ts';

/** As text; undefined if there was none or it is unknown. */
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
