/** Predicted steps for pages. What a page asks is answered as the command line answers it. */
import { inputError } from '../../shared/errors/errors.ts';
import type { CoreApi } from '../../shared/rpc/rpc.ts';
import { parseExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import type { ExpandedSweep } from '../../shared/sweep/sweep-points.ts';
import type { SweepRequest } from '../../shared/sweep/sweep-request.ts';
import type { NetworkProfile } from '../../shared/cost-model/network-profile.ts';
import { userHome } from '../home/user-home.ts';
import type { Home } from '../home/home.ts';
import type { EventOutbox } from './event-outbox.ts';
import { ComputeTimes } from '../plan/compute-times.ts';
import { measureComputeTime } from '../plan/compute-time.ts';
import { Forecaster } from '../plan/forecaster.ts';
import { measuredSteps } from '../plan/measured-steps.ts';
import { knownNetwork } from '../plan/known-network.ts';
import type { MeasuredNetwork } from '../plan/plan-network.ts';
import { planStep, type PlanParts } from '../plan/plan-step.ts';
import { predictPoint } from '../plan/predict-run.ts';
import { whatIf } from '../plan/what-if.ts';
import type { RunCoordinator } from '../runs/coordinator.ts';
import { withOwnFiles } from '../spec/spec-source.ts';
import { requestedSweep } from '../sweeps/requested-sweep.ts';
import type { RunStore } from '../store/run-store.ts';

interface PlanDeskOptions {
  readonly home: Home;
  readonly store: RunStore;
  readonly coordinator: RunCoordinator;
  readonly ownProfile: () => NetworkProfile | undefined;
  readonly outbox: EventOutbox;
}

type PlanApi = Pick<CoreApi, 'measuredSteps' | 'planStep' | 'predictPoint' | 'whatIf'>;

export class PlanDesk {
  readonly #options: PlanDeskOptions;
  readonly #forecaster: Forecaster;
  readonly #computeTimes: ComputeTimes;
  #sweep: { readonly key: string; readonly points: Promise<ExpandedSweep> } | undefined;

  constructor(options: PlanDeskOptions) {
    this.#options = options;
    this.#forecaster = new Forecaster(options.home);
    const { coordinator, outbox, store } = options;
    this.#computeTimes = new ComputeTimes((spec) =>
      measureComputeTime(spec, {
        coordinator,
        store,
        deleted: (run) => {
          outbox.changed(store.summary(run));
        },
      }),
    );
  }

  readonly api: PlanApi = {
    planStep: async ({ spec: raw, ...request }) => {
      // A window has no working directory: relative paths begin at the user's home.
      const spec = await withOwnFiles(parseExperimentSpec(raw), userHome());
      return await planStep(spec, request, this.#parts);
    },
    predictPoint: async (request, number) => {
      const { points } = await this.#pointsOf(request);
      const point = points[number - 1];
      if (point === undefined) {
        throw inputError('SWEEP_INVALID', `the sweep has no point ${number}`, {
          place: 'point',
          next: `It has ${points.length}, numbered from 1.`,
        });
      }
      return await predictPoint(point, this.#parts);
    },
    whatIf: (request) => whatIf(this.#options.store, request, this.#parts),
    measuredSteps: async (query) => measuredSteps(this.#options.store, query),
  };

  close(): void {
    this.#forecaster[Symbol.dispose]();
  }

  get #parts(): PlanParts {
    return {
      forecaster: this.#forecaster,
      measured: async (subject) => this.#measured(subject),
      computeTime: (subject) => this.#computeTimes.of(subject),
    };
  }

  #measured(spec: Parameters<typeof knownNetwork>[0]): MeasuredNetwork {
    const { ownProfile, ...parts } = this.#options;
    return knownNetwork(spec, { ...parts, own: ownProfile() });
  }

  /** The points of the newest sweep that is asked for: a page asks for one after another. */
  #pointsOf(request: SweepRequest): Promise<ExpandedSweep> {
    const key = JSON.stringify(request);
    if (this.#sweep?.key !== key) {
      const points = requestedSweep(this.#options.coordinator, request);
      this.#sweep = { key, points };
      points.catch(() => {
        if (this.#sweep?.key === key) this.#sweep = undefined;
      });
    }
    return this.#sweep.points;
  }
}
