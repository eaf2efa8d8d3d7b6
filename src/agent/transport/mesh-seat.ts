/**
 * A rank's place in a mesh to be: where its peers find it, and where their signs of life
 * do. The mesh takes both over.
 */
import type { RankAddress } from '../../shared/protocol/supervisor.ts';
import { Pulse } from './pulse.ts';
import { listenTcp, type TcpListener } from './tcp-listener.ts';

export class MeshSeat {
  readonly listener: TcpListener;
  readonly pulse: Pulse;

  private constructor(listener: TcpListener, pulse: Pulse) {
    this.listener = listener;
    this.pulse = pulse;
  }

  /**
   * On ports that the system chooses.
   * @throws GradwireError `LISTEN_FAILED`
   */
  static async listen(host: string): Promise<MeshSeat> {
    const listener = await listenTcp(host);
    try {
      return new MeshSeat(listener, await Pulse.listen(host));
    } catch (error) {
      listener.close();
      throw error;
    }
  }

  get address(): RankAddress {
    return { ...this.listener.address, pulse: this.pulse.port };
  }

  /** For a rank that joins no mesh after all; afterwards it does nothing. */
  async close(): Promise<void> {
    this.listener.close();
    await this.pulse.close();
  }
}
