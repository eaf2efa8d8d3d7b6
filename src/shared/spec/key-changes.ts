/**
 * Keys of a spec that may change in a run: those that a switch takes, as their definition says
 * (`.meta({ changes })`). All others keep the value with which the run has started.
 */
import { z } from 'zod';
import '../checks/spec-key.ts';

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly changes?: 'in-run';
}

/** Whether a key may change in a run: it says so, or the section that it is in. */
export function changesInRun(schema: z.ZodObject, path: string): boolean {
  let node = z.toJSONSchema(schema, { io: 'input' }) as Node | undefined;
  for (const key of path.split('.')) {
    node = node?.properties?.[key];
    if (node?.changes === 'in-run') return true;
  }
  return false;
}
