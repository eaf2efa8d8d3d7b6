/**
 * The script of the job that holds an allocation while ranks run in it. It only checks
 * whether its supervisor is alive: the supervisor regularly writes a new number into a
 * file; if the number stays the same, the supervisor is gone, and the allocation is
 * released. A number rather than the file's time, because machines' clocks may differ.
 */
import { shellQuoted } from '../../shared/words/shell-word.ts';

const LOOK_SECONDS = 5;

export interface HolderOptions {
  /**
   * Path of the supervisor's heartbeat, a number, in the home that login and compute nodes share.
   */
  readonly heartbeat: string;
  /** Time for which the number may stay the same. NFS may delay it by a minute. */
  readonly patienceSeconds: number;
}

export function holderScript({ heartbeat, patienceSeconds }: HolderOptions): string {
  const step = Math.min(LOOK_SECONDS, Math.max(1, Math.floor(patienceSeconds / 3)));
  return `#!/bin/sh
# Holds the nodes of a run of Gradwire, and ends when its supervisor is gone.
# Warnings before the end of the job, as a user's own --signal orders them, do not end it.
trap '' HUP INT QUIT USR1 USR2
last=none
same=0
while [ "$same" -lt ${Math.ceil(patienceSeconds)} ]; do
  now=$(cat ${shellQuoted(heartbeat)} 2>/dev/null) || now=none
  if [ "$now" = "$last" ]; then same=$((same + ${step})); else same=0; last=$now; fi
  sleep ${step}
done
`;
}
