/** Predicted steps for pages. What a page asks is answered as the command line answers it. */
import type { CoreApi } from '../../shared/rpc/rpc.ts';
import { parseExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import type { NetworkProfile } from '../../shared/cost-model/network-profile.ts';
import { userHome } from '../home/user-home.ts';
import type { Home } from '../home/home.ts';
import type { EventOutbox } from './event-outbox.ts';
import { measureComputeTime } from '../plan/compute-time.ts';
import { Forecaster } from '../plan/forecaster.ts';
import { measuredSteps } from '../plan/measured-steps.ts';
import { knownNetwork } from '../plan/known-network.ts';
import type { MeasuredNetwork } from '../plan/plan-network.ts';
import { planStep, type ComputeTime } from '../plan/plan-step.ts';
import { whatIf } from '../plan/what-if.ts';
import type { RunCoordinator } from '../runs/coordinator.ts';
import { withOwnFiles } from '../spec/own-files.ts';
import type { RunStore } from '../store/run-store.ts';

interface PlanDeskOptions {
  readonly home: Home;
  readonly store: RunStore;
  readonly coordinator: RunCoordinator;
  readonly ownProfile: () => NetworkProfile | undefined;
  readonly outbox: EventOutbox;
}

type PlanApi = Pick<CoreApi, 'measuredSteps' | 'planStep' | 'whatIf'>;

export class PlanDesk {
  readonly #options: PlanDeskOptions;
  readonly #forecaster: Forecaster;
  /** Computation by workload: measured once while the app is open. */
  readonly #computed = new Map<string, Promise<ComputeTime>>();

  constructor(options: PlanDeskOptions) {
    this.#options = options;
    this.#forecaster = new Forecaster(options.home);
  }

  readonly api: PlanApi = {
    planStep: async ({ spec: raw, ...request }) => {
      // A window has no working directory: relative paths begin at the user's home.
      const spec = await withOwnFiles(parseExperimentSpec(raw), userHome());
      return await planStep(spec, request, {
        forecaster: this.#forecaster,
        measured: async (subject) => this.#measured(subject),
        computeTime: (subject) => this.#computeTime(subject),
      });
    },
    whatIf: (request) =>
      whatIf(this.#options.store, request, {
        forecaster: this.#forecaster,
        measured: async (subject) => this.#measured(subject),
      }),
    measuredSteps: async (query) => measuredSteps(this.#options.store, query),
  };

  close(): void {
    this.#forecaster[Symbol.dispose]();
  }

  #measured(spec: Parameters<typeof knownNetwork>[0]): MeasuredNetwork {
    const { ownProfile, ...parts } = this.#options;
    return knownNetwork(spec, { ...parts, own: ownProfile() });
  }

  #computeTime(spec: Parameters<typeof measureComputeTime>[0]): Promise<ComputeTime> {
    const { backend, optimizer, workload } = spec;
    const key = JSON.stringify([backend, optimizer, workload]);
    const known = this.#computed.get(key);
    if (known !== undefined) return known;
    const { coordinator, outbox, store } = this.#options;
    const measuring = measureComputeTime(spec, {
      coordinator,
      store,
      deleted: (run) => {
        outbox.changed(store.summary(run));
      },
    }).then((seconds) => ({
      seconds,
      origin: 'measured with one rank on this computer',
    }));
    this.#computed.set(key, measuring);
    measuring.catch(() => this.#computed.delete(key));
    return measuring;
  }
}
