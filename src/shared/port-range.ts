/** Ports that the ranks of a machine may listen on, as its firewall lets them pass. */
import { z } from 'zod';

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

const LAST_PORT = 65_535;
/** Below these only root may listen. */
const FIRST_PORT = 1024;

/** `20000-20100`, both included; a single port would not do: a rank takes two. */
export const portRangeSchema = z
  .string()
  .regex(/^\d{1,5}-\d{1,5}$/, 'two ports, as 20000-20100')
  .refine((text) => {
    const { first, last } = portRange(text);
    return FIRST_PORT <= first && first < last && last <= LAST_PORT;
  }, `from ${FIRST_PORT} to ${LAST_PORT}, the lower one first`);

/** Of a text that the schema takes. */
export function portRange(text: string): PortRange {
  const [first, last] = text.split('-').map(Number);
  return { first: first!, last: last! };
}
