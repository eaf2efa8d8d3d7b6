/** Addresses of a rank, by which its peers find it. */
import { z } from 'zod';

/** A host's name or address, or `::` for all addresses. */
export const hostSchema = z.string().min(1).max(255);

const port = z.int().min(1).max(65_535);
const MOST_HOSTS = 256;
/** Nodes have names of at most 64 characters; host names of 255. */
export const nodeNameSchema = z.string().min(1).max(255);

const tunnelEntranceSchema = z.object({
  host: hostSchema,
  port,
  /** The same as in `RankAddress`. */
  pulse: port.optional(),
});
/** Ports of this machine that are forwarded to a rank on another one. */
export type TunnelEntrance = Readonly<z.infer<typeof tunnelEntranceSchema>>;

export const rankAddressSchema = z.object({
  host: hostSchema,
  port,
  /**
   * Other addresses to try, at the same ports, the likeliest first: not all ranks may reach
   * it at `host`, which need not be the machine's own. A peer found there must still prove its identity.
   */
  hosts: z.array(hostSchema).max(MOST_HOSTS).readonly().optional(),
  /**
   * A tunnel to it from the machine that this list is for, tried when its own addresses do not
   * work.
   */
  tunnel: tunnelEntranceSchema.optional(),
  /** The machine's name, if ranks are on several. */
  node: nodeNameSchema.optional(),
  /** Name of a Unix socket that accepts the same connections on the same machine. */
  local: z.string().min(1).max(107).optional(),
  /** Rank 0's only: a port that was free, for a process group of the ranks' own programs. */
  master: z.int().min(0).max(65_535).optional(),
  /** Port of the same host for heartbeats; default: none are exchanged. */
  pulse: port.optional(),
});
export type RankAddress = Readonly<z.infer<typeof rankAddressSchema>>;
