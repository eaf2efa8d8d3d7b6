/**
 * A core in a few lines: answers every call of AppApi from memory and notes what it was
 * called with. What crosses the boundary is what these tests are about; the real core
 * stands behind the hosts in the integration tests.
 */
import type { SweepSummary } from '../../../src/shared/sweep/sweep-status.ts';
import type { ServedCore, SessionTerminals } from '../../../src/main/rpc/session.ts';
import { inputError } from '../../../src/shared/errors/errors.ts';
import { ACCURACY } from '../../../src/shared/records/metric.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import type { RunNote } from '../../../src/shared/run-query/run-note.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { AppApi, AppEvents, CoreApi } from '../../../src/shared/rpc/rpc.ts';
import type { RunDetail } from '../../../src/shared/rpc/run-summary.ts';
import type { TerminalEvents } from '../../../src/shared/rpc/terminal.ts';

type Listener = Parameters<ServedCore['onEvent']>[0];

export const SPEC = parseExperimentSpec({
  workload: { model: 'fnn3', dataset: 'digits' },
});

export const RUN: RunDetail = {
  id: 'run-1',
  name: 'first',
  state: 'running',
  createdAt: 1,
  iterations: 3,
  iterationsPlanned: 400,
  nodes: ['this-computer'],
  ranks: 4,
  model: 'fnn3',
  dataset: 'digits',
  methods: ['none'],
  deleted: false,
  spec: SPEC,
  events: [],
  lastSequence: 12,
};

export const ENTRY: JournalEntry = {
  sequence: 13,
  record: { type: 'divergence', at: 5, iteration: 3, value: 0.25 },
};

const NOTE: RunNote = { id: 2, text: 'it diverged', iteration: 7, writtenAt: 8 };

const SWEEP: SweepSummary = {
  id: 'sweep-1',
  name: 'rates',
  state: 'running',
  createdAt: 7,
  atOnce: 1,
  points: 2,
  counts: {
    queued: 1,
    running: 1,
    completed: 0,
    stopped: 0,
    failed: 0,
    dropped: 0,
    purged: 0,
  },
};

export class SmallCore implements ServedCore {
  readonly calls: { readonly name: string; readonly input: readonly unknown[] }[] = [];
  readonly #listeners = new Set<Listener>();

  readonly api: CoreApi = {
    info: () =>
      this.#answer('info', [], {
        version: '0.0.0',
        host: 'browser',
        platform: 'linux',
        cores: 2,
        hostname: 'box',
        home: '/home',
      }),
    catalogue: () =>
      this.#answer('catalogue', [], {
        methods: [],
        collectives: [],
        models: [],
        datasets: [],
        optimizers: ['sgd'],
        backends: ['wasm'],
      }),
    presets: () => this.#answer('presets', [], []),
    checkSpec: (text) =>
      this.#answer('checkSpec', [text], { ok: true, spec: SPEC, yaml: text }),
    specToYaml: (spec) => this.#answer('specToYaml', [spec], 'name: first\n'),
    launch: (...args) => this.#answer('launch', args, RUN),
    sweeps: () => this.#answer('sweeps', [], []),
    sweep: (id) =>
      this.#answer('sweep', [id], { ...SWEEP, keys: [], points: [], runs: [] }),
    checkSweep: (request) =>
      this.#answer('checkSweep', [request], {
        ok: true,
        keys: [],
        points: [],
        seeds: [1],
      }),
    startSweep: (request) => this.#answer('startSweep', [request], SWEEP),
    stopSweep: (...args) => this.#answer('stopSweep', args, undefined),
    resumeSweep: (id) => this.#answer('resumeSweep', [id], undefined),
    editSweep: (...args) => this.#answer('editSweep', args, undefined),
    removeSweep: (id) => this.#answer('removeSweep', [id], undefined),
    relaunch: (run) => this.#answer('relaunch', [run], RUN),
    order: (run, order) =>
      this.#answer('order', [run, order], {
        switch: {
          epoch: 1,
          notBefore: 8,
          plan: {
            method: 'topk',
            parameters: { ratio: 0.01 },
            collective: 'sparse-allgather',
            bucketBytes: 4,
          },
          residual: 'flush',
        },
      } as never),
    runs: (query) => this.#answer('runs', [query], [RUN]),
    runPage: (query) =>
      this.#answer('runPage', [query], {
        rows: [{ run: RUN, values: [0.01], group: { value: 'fnn3', runs: 1 } }],
        total: 1,
        bytes: 9,
      }),
    matchingRuns: (query) => this.#answer('matchingRuns', [query], ['run-1']),
    runVocabulary: () =>
      this.#answer('runVocabulary', [], {
        specKeys: ['exchange.ratio'],
        values: { tag: ['paper'] },
      }),
    tagRuns: (runs, tag, isTagged) =>
      this.#answer('tagRuns', [runs, tag, isTagged], ['run-1']),
    renameRun: (run, title) => this.#answer('renameRun', [run, title], undefined),
    notes: (run) => this.#answer('notes', [run], [NOTE]),
    writeNote: (run, note) => this.#answer('writeNote', [run, note], NOTE),
    removeNote: (run, note) => this.#answer('removeNote', [run, note], NOTE),
    run: (id) =>
      id === RUN.id
        ? this.#answer('run', [id], RUN)
        : Promise.reject(
            inputError('RUN_UNKNOWN', `there is no run "${id}"`, {
              place: 'store',
              next: 'List the runs.',
            }),
          ),
    iterations: (run, range) =>
      this.#answer('iterations', [run, range], {
        entries: [ENTRY],
        next: { from: 3, fromRank: 1 },
      }),
    bins: (run, query) =>
      this.#answer('bins', [run, query], { starts: [], cells: [], lastSequence: 3 }),
    runLog: (run, after) => this.#answer('runLog', [run, after], [ENTRY]),
    tracedIterations: (run) => this.#answer('tracedIterations', [run], []),
    buckets: (run, query) =>
      this.#answer('buckets', [run, query], { columns: [], buckets: [] }),
    machines: (run, query) =>
      this.#answer('machines', [run, query], { columns: [], machines: [] }),
    trace: (run, place) => this.#answer('trace', [run, place], { records: [] }),
    setDeleted: (run, deleted) => this.#answer('setDeleted', [run, deleted], undefined),
    setAllDeleted: (runs, deleted) =>
      this.#answer('setAllDeleted', [runs, deleted], { changed: runs, refused: [] }),
    catchUps: () => this.#answer('catchUps', [], []),
    notices: () => this.#answer('notices', [], []),
    history: () =>
      this.#answer('history', [], { bytes: 9, deleted: { runs: 1, bytes: 3 } }),
    purge: (runs) =>
      this.#answer('purge', [runs], { before: 9, after: 6, refused: [] }),
    planStep: (request) =>
      this.#answer('planStep', [request], {
        name: 'first',
        compute: 5,
        computeOrigin: 'given',
        network: 'not measured',
        elements: 10,
        worlds: [],
      }),
    figures: () => this.#answer('figures', [], []),
    figurePage: (figure) =>
      this.#answer('figurePage', [figure], {
        html: '',
        pictures: { light: '', dark: '' },
        caption: '',
        runs: [],
        table: { columns: [], rows: [] },
        parts: [],
      }),
    startFigure: (figure, begin) =>
      this.#answer('startFigure', [figure, begin], undefined),
    stopFigure: () => this.#answer('stopFigure', [], undefined),
    predictPoint: (request, point) =>
      this.#answer('predictPoint', [request, point], {
        point,
        forecast: {
          step: 5,
          compute: 4,
          iterations: 10,
          time: 50,
          bytes: 80,
          memory: 1000,
          computeOrigin: 'given',
          network: 'not measured',
        },
      }),
    whatIf: (request) =>
      this.#answer('whatIf', [request], {
        run: request.run,
        name: 'first',
        from: 'none',
        to: 'topk',
        ranks: [4, 16],
        networks: ['not measured', 'not measured'],
        first: 5,
        last: 20,
        recorded: { mean: 5, low: 4, high: 6 },
        replayed: { mean: 5, low: 4, high: 6 },
        change: { mean: 0, low: -1, high: 1 },
        payloadBytes: [8, 4],
        collectives: ['ring', 'ring'],
        steps: { recorded: [], replayed: [] },
        switches: [],
        modelError: 0.25,
        text: 'no difference',
      }),
    measuredSteps: (query) => this.#answer('measuredSteps', [query], []),
    comparedRun: (run) =>
      this.#answer('comparedRun', [run], {
        id: run,
        name: 'first',
        state: 'running',
        createdAt: 1,
        nodes: ['this-computer'],
        iterations: 3,
        spec: SPEC,
        plan: 'none',
        switches: [],
        metricKind: ACCURACY,
        isDiverged: false,
        interruptions: 0,
        missing: [],
        curve: { width: 1, ends: [], time: [], loss: [], metric: [] },
        observations: [],
      }),
    exportRun: (run, format, place) =>
      this.#answer(
        'exportRun',
        [run, format, ...(place === undefined ? [] : [place])],
        {
          text: 'a,b\n',
          done: 1,
        },
      ),
    watch: (run) => this.#answer('watch', [run], RUN),
    unwatch: (run) => this.#answer('unwatch', [run], undefined),
    nodes: () => this.#answer('nodes', [], []),
    folder: (path) =>
      this.#answer('folder', [path], {
        path,
        places: [{ name: '/', path: '/' }],
        folders: [],
        scripts: ['train.py'],
        isCut: false,
      }),
    importableHosts: () => this.#answer('importableHosts', [], ['box']),
    addNode: (entry) => this.#answer('addNode', [entry], undefined),
    editNode: (name, entry, edit) =>
      this.#answer('editNode', [name, entry, edit], undefined),
    removeNode: (name) => this.#answer('removeNode', [name], undefined),
    nodeLog: (name) => this.#answer('nodeLog', [name], { file: 'log' }),
    checkNode: (name) => this.#answer('checkNode', [name], undefined),
    deployNode: (name) => this.#answer('deployNode', [name], undefined),
    uninstallNode: (name) => this.#answer('uninstallNode', [name], undefined),
    fetchMissing: (run) => this.#answer('fetchMissing', [run], undefined),
    stopOn: (...args) => this.#answer('stopOn', args, undefined),
    cancelNode: (name) => this.#answer('cancelNode', [name], undefined),
    network: () =>
      this.#answer('network', [], { links: [], within: [], passedOver: [] }),
    measureNetwork: () => this.#answer('measureNetwork', [], undefined),
    cancelNetwork: () => this.#answer('cancelNetwork', [], undefined),
    dataSets: () => this.#answer('dataSets', [], []),
    fetchDataSet: (id) => this.#answer('fetchDataSet', [id], undefined),
    cancelDataSet: (id) => this.#answer('cancelDataSet', [id], undefined),
    questions: () => this.#answer('questions', [], []),
    settings: () => this.#answer('settings', [], { values: {}, changed: [] }),
    changeSetting: (...args) => this.#answer('changeSetting', args, undefined),
    answer: (id, answer) => this.#answer('answer', [id, answer], undefined),
  };

  /** Of the sessions that are open. */
  readonly pages = new Set<TerminalEvents>();

  terminals(events: TerminalEvents): SessionTerminals {
    this.pages.add(events);
    return {
      api: {
        openTerminal: (...input) => this.#answer('openTerminal', input, undefined),
        writeTerminal: (...input) => this.#answer('writeTerminal', input, undefined),
        resizeTerminal: (...input) => this.#answer('resizeTerminal', input, undefined),
        closeTerminal: (...input) => this.#answer('closeTerminal', input, undefined),
      },
      close: () => {
        this.pages.delete(events);
      },
    };
  }

  get listening(): number {
    return this.#listeners.size;
  }

  onEvent(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit<E extends keyof AppEvents>(event: E, ...args: Parameters<AppEvents[E]>): void {
    for (const listener of this.#listeners) listener(event, ...args);
  }

  named(name: keyof AppApi): readonly (readonly unknown[])[] {
    return this.calls.filter((call) => call.name === name).map((call) => call.input);
  }

  #answer<T>(name: string, input: readonly unknown[], value: T): Promise<T> {
    this.calls.push({ name, input });
    return Promise.resolve(value);
  }
}
