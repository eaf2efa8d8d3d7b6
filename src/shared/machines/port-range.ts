/** Ports that the ranks of a machine may listen on, as its firewall allows. */
import { z } from 'zod';

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

const LAST_PORT = 65_535;
/** Only root may listen on ports below this. */
const FIRST_PORT = 1024;

/** `20000-20100`, inclusive; a single port is not enough, since a rank needs two. */
export const portRangeSchema = z
  .string()
  .regex(/^\d{1,5}-\d{1,5}$/, 'two ports, such as 20000-20100')
  .refine((text) => {
    const { first, last } = portRange(text);
    return FIRST_PORT <= first && first < last && last <= LAST_PORT;
  }, `at least two ports from ${FIRST_PORT} to ${LAST_PORT}, the lower one first`);

/** Parses a text that the schema accepts. */
export function portRange(text: string): PortRange {
  const [first, last] = text.split('-').map(Number);
  return { first: first!, last: last! };
}
