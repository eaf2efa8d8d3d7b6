/** Parts of the run coordinator, which find each other here. */
import type { NetworkProfile } from '../../shared/cost-model/network-profile.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import { NodeSet, type NodeDirectory } from '../cluster/node-set.ts';
import type { RunStore } from '../store/run-store.ts';
import { AlertDelivery } from '../alerts/alert-delivery.ts';
import { LostMachines } from './lost-machines.ts';
import { RunEndings } from './run-endings.ts';
import { RunFollowing } from './run-following.ts';
import { RunFollowers } from './run-followers.ts';
import { RunLooks } from './run-looks.ts';
import { RunLaunches } from './run-launches.ts';
import { RunMachines } from './run-machines.ts';
import { RunNews, type CoordinatorEvents } from './run-news.ts';
import { RunOrders } from './run-orders.ts';
import { RunRecovery } from './run-recovery.ts';
import { RunRestarts } from './run-restarts.ts';
import { RunStops } from './run-stops.ts';
import { RunTunnels } from './run-tunnels.ts';

export interface CoordinatorOptions {
  readonly store: RunStore;
  /** All nodes; a run's first node leads it and owns its plan switches. */
  readonly nodes: NodeDirectory;
  readonly events: CoordinatorEvents;
  /** `all`: follow every run that a supervisor has. `own`: only those requested. */
  readonly scope: 'all' | 'own';
  /** Whether, with scope `own`, the user may be asked for a log-in when a link was lost. */
  readonly mayAsk?: boolean | undefined;
  /** The measured network, read again for every run; default: none. */
  readonly networkProfile?: () => Promise<NetworkProfile | undefined>;
}

export class CoordinatorParts {
  readonly store: RunStore;
  readonly scope: 'all' | 'own';
  readonly mayAsk: boolean;
  readonly networkProfile: () => Promise<NetworkProfile | undefined>;
  /** Runs requested by name, until they end. */
  readonly kept = new Set<string>();
  readonly stops = new RunStops();
  readonly tunnels = new RunTunnels();
  readonly news: RunNews;
  readonly followers: RunFollowers;
  readonly endings: RunEndings;
  readonly lost: LostMachines;
  readonly recovery: RunRecovery;
  readonly restarts: RunRestarts;
  readonly orders: RunOrders;
  readonly launches: RunLaunches;
  readonly following: RunFollowing;
  readonly machines: RunMachines;
  readonly nodes: NodeSet;
  readonly alerts: AlertDelivery;
  readonly looks: RunLooks;

  constructor(options: CoordinatorOptions) {
    this.store = options.store;
    this.scope = options.scope;
    this.mayAsk = options.mayAsk === true;
    this.networkProfile = options.networkProfile ?? (() => Promise.resolve(undefined));
    this.news = new RunNews(options.events, this);
    this.followers = new RunFollowers(this);
    this.endings = new RunEndings(this);
    this.lost = new LostMachines(this);
    this.recovery = new RunRecovery(this);
    this.restarts = new RunRestarts(this);
    this.orders = new RunOrders(this);
    this.launches = new RunLaunches(this);
    this.following = new RunFollowing(this);
    this.machines = new RunMachines(this);
    this.looks = new RunLooks(this);
    this.alerts = new AlertDelivery({
      alerts: this.store.alerts,
      settings: () => this.store.settings.all(),
      failed: (error) => {
        options.events.alertUntold?.(error);
      },
    });
    this.nodes = new NodeSet(options.nodes, (link) => this.news.of(link));
  }

  /** Returns the links to the nodes with ranks of a run, the leading one first. */
  linksOf(run: string): readonly [NodeLink, ...NodeLink[]] {
    return this.nodes.of(this.store.spec(run));
  }
}
