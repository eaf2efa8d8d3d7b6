/** A request for a run's machines, as the page and the command make it. */
import { z } from 'zod';

/** Most columns of a table. */
export const MOST_MACHINE_COLUMNS = 300;

/** A request for the machines of a run. */
export const machineQuerySchema = z.strictObject({
  from: z.int().min(0),
  /** Exclusive. */
  to: z.int().min(0),
  /** Most columns of iterations. */
  columns: z.int().min(0).max(MOST_MACHINE_COLUMNS),
});
export type MachineQuery = Readonly<z.infer<typeof machineQuerySchema>>;
