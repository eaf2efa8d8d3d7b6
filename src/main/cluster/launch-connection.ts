/**
 * A connection over which runs can be launched: to a supervisor of this version. A supervisor
 * of another version without runs and other clients ends when we disconnect, and one of ours
 * replaces it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { otherVersion, type ControlConnection } from './control-connection.ts';

/** An idle supervisor ends a tenth of a second after its last client has left. */
const GIVE_WAY_MS = 10_000;
const GIVE_WAY_PAUSE_MS = 200;

interface LaunchingLink {
  /** Connects to whichever supervisor is there, or starts one. */
  connect(): Promise<ControlConnection>;
  /** Reads what the previous supervisor left in journals. */
  restored(): Promise<void>;
  /** Ends the connection to another version. */
  leave(): Promise<void>;
}

/** @throws GradwireError `SUPERVISOR_OTHER_VERSION`, and those of connecting */
export async function connectToLaunch(link: LaunchingLink): Promise<ControlConnection> {
  const end = performance.now() + GIVE_WAY_MS;
  for (let first = true; ; first = false) {
    const connection = await link.connect();
    if (!connection.readsOnly) {
      if (!first) await link.restored();
      return connection;
    }
    const { runs } = await connection.request('runs', {});
    const live = runs.find(({ phase }) => phase !== 'ended');
    if (live !== undefined || performance.now() > end) {
      throw otherVersion(connection.place, connection.hello, live?.run);
    }
    await link.leave();
    await sleep(GIVE_WAY_PAUSE_MS);
  }
}
