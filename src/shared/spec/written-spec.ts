/** A spec as its user wrote it: the text, and what it says. */
import { z } from 'zod';

const LONGEST_TEXT = 1_000_000;

export const writtenSpecSchema = z.strictObject({
  text: z.string().max(LONGEST_TEXT),
  /** The validated spec. */
  spec: z.unknown(),
});
export type WrittenSpec = z.infer<typeof writtenSpecSchema>;
