/** The clock by which a program tells its moments: that of its machine, which all ranks there share. */
import { thisMachine } from '../../disk/lock-holder.ts';

/** Returns a name that no other machine's clock has, nor this one's after its next boot. */
export function machineClock(): string {
  const { boot, host } = thisMachine();
  return boot ?? host;
}
