/** Measures the links between ranks on this machine. The processes end with the client. */
import type { SupervisorRequests } from '../../../shared/protocol/supervisor.ts';
import { measureNetwork } from '../../probe/measure-network.ts';
import { leaveTurn, takeTurn } from './measuring-turn.ts';

type Request = SupervisorRequests['measureNetwork']['request'];
type Reply = SupervisorRequests['measureNetwork']['reply'];

export class NetworkMeasurement {
  readonly #over = new AbortController();

  /** @throws GradwireError `LINK_CHECK_BUSY`, errors of `measureNetwork` */
  async measure(request: Request): Promise<Reply> {
    const turn = {};
    takeTurn(turn, 'network');
    try {
      const { signal } = this.#over;
      return { profile: await measureNetwork({ ...request, signal }) };
    } finally {
      leaveTurn(turn);
    }
  }

  close(): void {
    this.#over.abort();
  }
}
