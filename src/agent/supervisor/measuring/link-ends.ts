/**
 * Ends of measured links on this machine: separate processes, like ranks, for one link at
 * a time, so that two measurements do not disturb each other. They end with their client,
 * or after a minute.
 */
import { failure } from '../../../shared/errors/errors.ts';
import type { SupervisorRequests } from '../../../shared/protocol/supervisor.ts';
import { bundledFile } from '../../bundle/bundled-file.ts';
import {
  fromRankSchema,
  type FromRank,
  type ToRank,
} from '../../probe/rank-protocol.ts';
import { RankWorld } from '../../world/rank-world.ts';
import { isMeasuring, leaveTurn, takeTurn } from './measuring-turn.ts';

const PROCESS = { bundle: 'probe-rank.js', source: '../../probe/rank-main.ts' };
const START_MS = 20_000;
const LIFE_MS = 60_000;

type Requests = SupervisorRequests;
type End = RankWorld<ToRank, FromRank>;

/** The ends of one client; a link from this machine to itself has two here. */
export class LinkEnds {
  readonly #ends = new Map<0 | 1, End>();
  /** Rejects when the ends are closed, so that no caller waits for them any longer. */
  #over = Promise.withResolvers<never>();
  #life: NodeJS.Timeout | undefined;

  /** @throws GradwireError `LINK_CHECK_BUSY`, `LISTEN_FAILED`, `WORKER_DIED` */
  async open({
    link,
    end,
    listen,
    ports,
  }: Requests['openLinkEnd']['request']): Promise<Requests['openLinkEnd']['reply']> {
    if (takeTurn(this, link)) {
      this.#over = Promise.withResolvers();
      this.#over.promise.catch(() => undefined);
    }
    clearTimeout(this.#life);
    this.#life = setTimeout(() => void this.close(), LIFE_MS);
    const entry = bundledFile(PROCESS, import.meta.dirname);
    const process: End = new RankWorld({
      size: 1,
      reports: fromRankSchema,
      commandOf: () => ({ entry }),
    });
    const before = this.#ends.get(end);
    // Owned from here on, even while the previous one is still ending.
    this.#ends.set(end, process);
    await before?.[Symbol.asyncDispose]();
    const order = { type: 'listen', rank: end, host: listen, ports } as const;
    const listening = process.ask('listening', 0, order, START_MS);
    return { address: (await Promise.race([listening, this.#over.promise])).address };
  }

  /** @throws GradwireError `LINK_CHECK_OVER`, errors of the transport */
  async time({
    end,
    link,
    ...order
  }: Requests['timeLink']['request']): Promise<Requests['timeLink']['reply']> {
    const process = this.#ends.get(end);
    if (!isMeasuring(this, link) || process === undefined) throw over();
    const asked = { type: 'time', run: `link ${link}`, ...order } as const;
    const timing = process.ask('timed', 0, asked, LIFE_MS);
    const timed = await Promise.race([timing, this.#over.promise]);
    return { timing: timed.timing, transport: timed.transport };
  }

  async close(link?: string): Promise<void> {
    if (!isMeasuring(this, link)) return;
    clearTimeout(this.#life);
    const ends = [...this.#ends.values()];
    this.#ends.clear();
    this.#over.reject(over());
    await Promise.all(ends.map((end) => end[Symbol.asyncDispose]()));
    leaveTurn(this);
  }
}

const over = (): Error =>
  failure('LINK_CHECK_OVER', 'this end of the link has been closed', {
    next: 'Measure it again.',
  });
