/**
 * Measures what lies between ranks on this machine, for one client at a time: two measurements
 * would disturb each other. The processes end with the client.
 */
import { failure } from '../../shared/errors.ts';
import type { SupervisorRequests } from '../../shared/protocol/supervisor.ts';
import { measureNetwork } from '../probe/measure-network.ts';

type Request = SupervisorRequests['measureNetwork']['request'];
type Reply = SupervisorRequests['measureNetwork']['reply'];

let isUnderWay = false;

export class NetworkMeasurement {
  readonly #over = new AbortController();

  /** @throws GradwireError `NETWORK_CHECK_BUSY`, errors of `measureNetwork` */
  async measure(request: Request): Promise<Reply> {
    if (isUnderWay) {
      throw failure(
        'NETWORK_CHECK_BUSY',
        'another client is measuring this machine’s network',
        { next: 'Try again in a minute.' },
      );
    }
    isUnderWay = true;
    try {
      const { signal } = this.#over;
      return { profile: await measureNetwork({ ...request, signal }) };
    } finally {
      isUnderWay = false;
    }
  }

  close(): void {
    this.#over.abort();
  }
}
