/**
 * The rooms of the house (docs/architecture.md) and who may import whom, as an ESLint
 * rule. A room is a folder: the files directly in it. `X/*` is a room with all rooms in
 * it; an entry that ends in .ts is that file alone. What is not listed is refused, and so
 * is a table with a cycle, so that no folders can come to import one another in a ring.
 */
import path from 'node:path';

const SHARED = 'shared/*';

export const rooms = {
  'shared/async': [],
  'shared/words': [],
  'shared/numbers': [],
  // Codes of errors and notices, with what each means.
  'shared/codes': [],
  'shared/errors': ['shared/codes'],
  'shared/checks': ['shared/codes', 'shared/errors', 'shared/words'],
  'shared/catalogue': ['shared/checks', 'shared/errors', 'shared/words'],
  'shared/plan': ['shared/catalogue', 'shared/checks'],
  'shared/machines': ['shared/checks', 'shared/errors', 'shared/words'],
  'shared/spec/parallelism': ['shared/checks'],
  'shared/spec': [
    'shared/checks',
    'shared/errors',
    'shared/machines',
    'shared/plan',
    'shared/spec/parallelism',
    'shared/words',
  ],
  'shared/cost-model': [
    'shared/checks',
    'shared/errors',
    'shared/machines',
    'shared/numbers',
    'shared/spec',
    'shared/words',
  ],
  'shared/records': [
    'shared/checks',
    'shared/codes',
    'shared/errors',
    'shared/machines',
    'shared/plan',
    'shared/words',
  ],
  // Rules over a run's records that tell when something needs attention.
  'shared/alerts': ['shared/codes', 'shared/records', 'shared/words'],
  // Settings of a home, each defined once.
  'shared/settings': [
    'shared/alerts',
    'shared/checks',
    'shared/errors',
    'shared/words',
  ],
  'shared/orders': [
    'shared/catalogue',
    'shared/checks',
    'shared/cost-model',
    'shared/errors',
    'shared/plan',
  ],
  'shared/protocol': [
    'shared/catalogue',
    'shared/checks',
    'shared/codes',
    'shared/cost-model',
    'shared/errors',
    'shared/machines',
    'shared/orders',
    'shared/plan',
    'shared/records',
    'shared/spec',
  ],
  // One spec with several values: its points and their names.
  'shared/sweep': [
    'shared/catalogue',
    'shared/checks',
    'shared/comparison',
    'shared/errors',
    'shared/plan',
    'shared/spec',
    'shared/words',
  ],
  // Predicted steps: questions to the forecaster, and what is made of its answers.
  'shared/forecast': [
    'shared/checks',
    'shared/cost-model',
    'shared/errors',
    'shared/machines',
    'shared/numbers',
    'shared/plan',
    'shared/records',
    'shared/spec',
    'shared/words',
  ],
  // Runs held against each other: the same numbers for the page, the command and exports.
  'shared/comparison': [
    'shared/errors',
    'shared/numbers',
    'shared/plan',
    'shared/records',
    'shared/spec',
    'shared/words',
  ],
  // Filters and orders of lists of runs, and what users write on runs.
  'shared/run-query': ['shared/alerts', 'shared/errors', 'shared/words'],
  // Timelines of traced iterations, and their export.
  'shared/trace': ['shared/records'],
  // What the buckets of a run cost, from the sums that ranks record.
  'shared/buckets': ['shared/numbers', 'shared/records', 'shared/words'],
  // What the machines of a run did meanwhile.
  'shared/utilisation': [
    'shared/machines',
    'shared/numbers',
    'shared/records',
    'shared/words',
  ],
  'shared/rpc': [
    'shared/buckets',
    'shared/alerts',
    'shared/settings',
    'shared/catalogue',
    'shared/checks',
    'shared/comparison',
    'shared/errors',
    'shared/forecast',
    'shared/machines',
    'shared/orders',
    'shared/plan',
    'shared/records',
    'shared/run-query',
    'shared/spec',
    'shared/sweep',
    'shared/utilisation',
  ],

  // What a run's iterations show, in sentences, and the effects of its switches.
  'shared/verdict': [
    'shared/cost-model',
    'shared/machines',
    'shared/numbers',
    'shared/plan',
    'shared/records',
    'shared/words',
  ],

  // Files that survive a power cut, places for files, and processes as files name them: for every
  // program on Node, not for a page.
  disk: [SHARED],
  // A supervisor of this machine, found or started: for a desktop and for a node.
  process: [SHARED],

  // A run as a file, in a page as on the command line: knows neither store nor page.
  'export/tables': [SHARED],
  'export/formats': ['export/tables', SHARED],
  'export/tensorboard': ['export/formats', 'export/tables', SHARED],
  // Charts as pictures, and reports of runs and comparisons.
  'export/picture': [SHARED],
  'export/report': ['export/picture', SHARED],
  export: ['export/formats', 'export/tables', 'export/tensorboard', SHARED],

  'agent/bundle': [SHARED],
  'agent/memory': [SHARED],
  // GPUs of a machine, and which of them a process sees.
  'agent/gpus': [SHARED],
  'agent/kernels': ['agent/memory', SHARED],
  'agent/kernels/reference': ['agent/kernels', 'agent/memory', SHARED],
  'agent/kernels/wasm': ['agent/bundle', 'agent/kernels', 'agent/memory', SHARED],
  'agent/kernels/wgsl': ['agent/kernels', SHARED],
  'agent/kernels/webgpu': [
    'agent/gpus',
    'agent/kernels',
    'agent/kernels/wgsl',
    'agent/memory',
    SHARED,
  ],
  // What methods do to vectors, wherever these lie, and each backend's way of doing it.
  'agent/work': ['agent/kernels', 'agent/memory', SHARED],
  'agent/work/arena': ['agent/kernels', 'agent/memory', 'agent/work', SHARED],
  'agent/work/webgpu': [
    'agent/kernels',
    'agent/kernels/webgpu',
    'agent/kernels/wgsl',
    'agent/memory',
    'agent/work',
    SHARED,
  ],
  'agent/methods/policy': [SHARED],
  'agent/methods': [
    'agent/methods/policy',
    'agent/kernels',
    'agent/memory',
    'agent/work',
    SHARED,
  ],
  'agent/emulation': [SHARED],
  'agent/transport': ['agent/bundle', 'agent/emulation', SHARED],
  // Collectives know the transport by its interface alone.
  'agent/collectives': [
    'agent/kernels',
    'agent/memory',
    'agent/transport/transport.ts',
    SHARED,
  ],
  'agent/codec': [
    'agent/methods/*',
    'agent/kernels/*',
    'agent/memory',
    'agent/work/*',
    SHARED,
  ],
  'agent/profile': ['agent/transport', SHARED],
  'agent/plan': ['agent/collectives', 'agent/methods', 'agent/methods/policy', SHARED],
  'agent/auto': [
    'agent/collectives',
    'agent/methods',
    'agent/methods/policy',
    'agent/memory',
    'agent/plan',
    'agent/profile',
    SHARED,
  ],
  'agent/sites': [
    'agent/methods/*',
    'agent/kernels/*',
    'agent/memory',
    'agent/plan',
    'agent/profile',
    'agent/work/*',
    SHARED,
  ],
  // Weights at servers, without a collective.
  'agent/asynchronous': [
    'agent/collectives',
    'agent/methods',
    'agent/kernels',
    'agent/memory',
    'agent/plan',
    'agent/transport/transport.ts',
    'agent/work/arena',
    SHARED,
  ],
  'agent/exchange': [
    'agent/asynchronous',
    'agent/auto',
    'agent/collectives',
    'agent/methods',
    'agent/kernels',
    'agent/memory',
    'agent/plan',
    'agent/profile',
    'agent/sites',
    'agent/transport',
    'agent/work',
    SHARED,
  ],
  // What passes between the stages of a model that is split.
  'agent/pipeline': [
    'agent/collectives',
    'agent/kernels',
    'agent/memory',
    'agent/profile',
    'agent/transport',
    SHARED,
  ],
  'agent/training/runtime': [
    'agent/bundle',
    'agent/gpus',
    'agent/kernels',
    'agent/kernels/webgpu',
    SHARED,
  ],
  'agent/training/batches': ['agent/training/runtime'],
  'agent/training/datasets': [
    'agent/bundle',
    'agent/training/batches',
    'agent/training/runtime',
    SHARED,
  ],
  'agent/training/metrics': ['agent/training/runtime', SHARED],
  'agent/training/models': [
    'agent/training/batches',
    'agent/training/metrics',
    'agent/training/runtime',
    SHARED,
  ],
  'agent/training/optimizers': [
    'agent/kernels',
    'agent/memory',
    'agent/training/runtime',
    SHARED,
  ],
  'agent/training/synthetic': ['agent/training/runtime', SHARED],
  'agent/training': [
    'agent/gpus',
    'agent/kernels',
    'agent/kernels/webgpu',
    'agent/memory',
    'agent/pipeline/stage-setting.ts',
    'agent/sites',
    'agent/training/batches',
    'agent/training/datasets',
    'agent/training/metrics',
    'agent/training/models',
    'agent/training/optimizers',
    'agent/training/runtime',
    'agent/training/synthetic',
    SHARED,
  ],
  'agent/training/inspect': [
    'agent/bundle',
    'agent/memory',
    'agent/training',
    'agent/training/batches',
    'agent/training/datasets/file-stamp.ts',
    'agent/training/models',
    'agent/training/runtime',
    SHARED,
  ],
  'agent/launch': [
    'agent/collectives',
    'agent/methods',
    'agent/memory',
    'agent/plan',
    'agent/training',
    'agent/training/synthetic',
    SHARED,
  ],
  // A program of one's own beside a rank.
  'agent/bridge': ['agent/memory', 'agent/training', 'disk', SHARED],
  // Models of ours, computed by PyTorch in a process beside a rank.
  'agent/torch': [
    'agent/bridge',
    'agent/bundle',
    'agent/gpus',
    'agent/memory',
    'agent/training',
    'agent/training/batches',
    'agent/training/models',
    'agent/training/runtime',
    SHARED,
  ],
  'agent/world': ['agent/bundle', 'agent/memory', SHARED],
  'agent/slurm': ['agent/world', SHARED],
  'agent/checkpoint': ['agent/exchange', 'disk', SHARED],
  'agent/worker/engine': [
    'agent/asynchronous',
    'agent/collectives',
    'agent/exchange',
    'agent/kernels',
    'agent/kernels/wasm',
    'agent/memory',
    'agent/pipeline',
    'agent/plan',
    'agent/profile',
    'agent/sites',
    'agent/transport',
    SHARED,
  ],
  // Threads that compute gradients.
  'agent/worker/trainers': [
    'agent/memory',
    'agent/training',
    'agent/worker/engine',
    SHARED,
  ],
  // Forms of parallelism.
  'agent/worker/steps': [
    'agent/bridge',
    'agent/exchange',
    'agent/memory',
    'agent/profile',
    'agent/sites',
    'agent/training',
    'agent/worker/engine',
    'agent/worker/trainers',
    SHARED,
  ],
  'agent/worker': [
    'agent/bridge',
    'agent/bundle',
    'agent/checkpoint',
    'agent/collectives',
    'agent/methods',
    'agent/exchange',
    'agent/forecast',
    'agent/gpus',
    'agent/kernels/wasm',
    'agent/memory',
    'agent/pipeline',
    'agent/plan',
    'agent/profile',
    'agent/sites',
    'agent/torch',
    'agent/training',
    'agent/worker/engine',
    'agent/worker/steps',
    'agent/worker/trainers',
    'agent/world',
    SHARED,
  ],
  'agent/allreduce': [
    'agent/bundle',
    'agent/collectives',
    'agent/kernels',
    'agent/kernels/wasm',
    'agent/memory',
    'agent/transport',
    'agent/world',
    'disk',
    SHARED,
  ],
  'agent/probe': [
    'agent/bundle',
    'agent/collectives',
    'agent/kernels',
    'agent/kernels/wasm',
    'agent/memory',
    'agent/transport',
    'agent/world',
    SHARED,
  ],
  'agent/forecast': [
    'agent/auto',
    'agent/bundle',
    'agent/collectives',
    'agent/methods',
    'agent/kernels',
    'agent/kernels/wasm',
    'agent/launch',
    'agent/memory',
    'agent/plan',
    'agent/profile',
    'agent/sites',
    'agent/training',
    'agent/training/models',
    'agent/training/inspect',
    'agent/training/synthetic',
    'disk',
    SHARED,
  ],
  'agent/supervisor/home': ['disk', SHARED],
  'agent/supervisor/journal': ['disk', SHARED],
  'agent/supervisor/measuring': ['agent/bundle', 'agent/probe', 'agent/world', SHARED],
  'agent/supervisor/ranks': [
    'agent/bundle',
    'agent/memory',
    'agent/supervisor/journal',
    'agent/world',
    SHARED,
  ],
  // What the machines of ranks do while a run goes on.
  'agent/supervisor/utilisation': [
    'agent/bundle',
    'agent/memory',
    'agent/supervisor/ranks',
    'agent/world',
    SHARED,
  ],
  'agent/supervisor/workdirs': [SHARED],
  'agent/supervisor/runs': [
    'agent/checkpoint',
    'agent/forecast',
    'agent/launch',
    'agent/plan',
    'agent/slurm',
    'agent/supervisor/journal',
    'agent/supervisor/ranks',
    'agent/supervisor/utilisation',
    'agent/supervisor/workdirs',
    'agent/training',
    'agent/training/inspect',
    'agent/world',
    'disk',
    SHARED,
  ],
  'agent/supervisor/door': [
    'agent/collectives',
    'agent/launch',
    'agent/methods',
    'agent/plan',
    'agent/slurm',
    'agent/supervisor/journal',
    'agent/supervisor/measuring',
    'agent/supervisor/runs',
    'agent/supervisor/workdirs',
    'agent/training',
    'agent/training/inspect',
    SHARED,
  ],
  'agent/supervisor': ['agent/bundle', 'agent/supervisor/*', SHARED],
  'agent/attach': ['agent/bundle', 'disk', 'process', SHARED],
  // engine.ts, the public entry.
  agent: [
    'agent/allreduce',
    'agent/codec',
    'agent/collectives',
    'agent/methods',
    'agent/forecast',
    'agent/kernels/*',
    'agent/launch/catalogue.ts',
    'agent/memory',
    'agent/probe',
    'agent/work',
    'agent/work/arena',
    SHARED,
  ],

  'main/home': ['disk', SHARED],
  'main/store/migrations': [],
  // Records in columns, compressed: knows nothing of a database.
  'main/store/blocks': [SHARED],
  'main/store/levels': ['main/store/blocks', SHARED],
  'main/store': [
    'main/cluster/unknown-node.ts',
    'main/home/process-name.ts',
    'main/store/blocks',
    'main/store/levels',
    'main/store/migrations',
    'disk',
    'export/formats',
    'export/tables',
    SHARED,
  ],
  'main/rpc': [SHARED],
  'main/web': [SHARED],
  'main/spec': ['main/home', SHARED],
  // What is known of host keys, and what becomes of one: knows nothing of connections.
  'main/ssh/host-keys': [SHARED],
  // Channels through a master of the system's ssh: the protocol and no more.
  'main/ssh/mux': [],
  'main/ssh': [
    'main/home/node-binary.ts',
    'main/ssh/host-keys',
    'main/ssh/mux',
    'disk',
    SHARED,
  ],
  'main/ssh/config': ['main/ssh/host-keys', 'main/ssh/target.ts', SHARED],
  'main/http': [SHARED],
  'main/data-sets': ['main/home', 'main/http', 'disk', SHARED],
  'main/deploy': ['main/home', 'main/ssh', 'disk', SHARED],
  'main/cluster': [
    'main/deploy',
    'main/home',
    'main/ssh',
    'main/ssh/config',
    'process',
    SHARED,
  ],
  'main/compare': ['main/store', SHARED],
  // Alerts on their way to a command and a webhook.
  'main/alerts': ['main/http', 'main/store', SHARED],
  'main/runs': [
    'main/alerts',
    'main/cluster',
    'main/deploy',
    'main/home',
    'main/store',
    SHARED,
  ],
  // Queues of runs.
  'main/sweeps': ['main/home', 'main/runs', 'main/spec', 'main/store', SHARED],
  // Predictions of steps, for a page as for a command.
  'main/plan': ['main/compare', 'main/home', 'main/runs', 'main/store', SHARED],
  // Shells in pages. What a remote one is, it knows by the stream's type alone.
  'main/terminal': ['main/ssh/remote-stream.ts', SHARED],
  // Figures of papers, reproduced by the command as a process and shown to pages.
  'main/figures': ['main/home', 'reproduce/*', SHARED],
  'main/app': [
    'main/cluster',
    'main/compare',
    'main/data-sets',
    'main/figures',
    'main/home',
    'main/plan',
    'main/runs',
    'main/spec',
    'main/store',
    'main/sweeps',
    'main/terminal',
    SHARED,
  ],
  'main/electron': ['main/app', 'main/home', 'main/rpc', 'main/web', SHARED],
  'main/serve': ['main/app', 'main/home', 'main/rpc', 'main/web', SHARED],

  // Figures of papers, repeated: definitions, judgement, charts and pages; it runs nothing.
  'reproduce/chart': [SHARED],
  reproduce: ['reproduce/chart', SHARED],
  'reproduce/page': ['reproduce', 'reproduce/chart', 'reproduce/figures', SHARED],
  'reproduce/figures': ['reproduce', 'reproduce/chart', SHARED],

  // The command line knows main's core but not its hosts, and the engine's entry alone.
  'cli/text': ['main/data-sets', 'main/deploy', 'reproduce', 'reproduce/page', SHARED],
  'cli/files': [
    'agent',
    'export/*',
    'main/home',
    'reproduce',
    'reproduce/page',
    'disk',
    SHARED,
  ],
  'cli/session': [
    'cli/text',
    'main/cluster',
    'main/figures',
    'main/home',
    'main/runs',
    'main/spec',
    'main/ssh',
    'main/store',
    'main/sweeps',
    'reproduce',
    SHARED,
  ],
  'cli/commands': [
    'agent',
    'cli/files',
    'cli/session',
    'cli/text',
    'export/*',
    'main/cluster',
    'main/compare',
    'main/data-sets',
    'main/deploy',
    'main/figures',
    'main/home',
    'main/plan',
    'main/runs',
    'main/spec',
    'main/ssh/config',
    'main/store',
    'main/sweeps',
    'reproduce/*',
    SHARED,
  ],
  cli: [
    'agent/bundle/compile-cache.ts',
    'agent/bundle/warning-signals.ts',
    'cli/commands',
    'cli/text',
    'main/home',
    SHARED,
  ],

  preload: [SHARED],
  'renderer/styles': [],
  // The page's ways to the host: Electron's port or a web socket.
  'renderer/state/host': [SHARED],
  // The addresses of views.
  'renderer/state/places': [SHARED],
  // Commands, keys, the router, preferences and messages of the page itself.
  'renderer/state/page': ['renderer/state/places', SHARED],
  'renderer/state/history': [SHARED],
  'renderer/state/runs': [
    'export',
    'export/formats',
    'renderer/state/history',
    'renderer/state/host',
    'renderer/state/page',
    'renderer/state/places',
    SHARED,
  ],
  'renderer/state/comparison': ['renderer/state/host', SHARED],
  'renderer/state/plan': [
    'renderer/state/experiment',
    'renderer/state/host',
    'renderer/state/places',
    SHARED,
  ],
  'renderer/state/experiment': ['renderer/state/host', 'renderer/state/page', SHARED],
  'renderer/state/figures': [SHARED],
  'renderer/state/sweeps': ['renderer/state/host', SHARED],
  'renderer/state/settings': ['renderer/state/host', 'renderer/state/page', SHARED],
  'renderer/state/cluster': ['renderer/state/host', 'renderer/state/page', SHARED],
  'renderer/state/terminals': ['renderer/state/host', SHARED],
  'renderer/state': ['export', 'export/report', 'renderer/state/*', SHARED],
  'renderer/charts': [
    'export',
    'export/formats',
    'export/picture',
    'export/tables',
    'renderer/components/parts',
    'renderer/state/*',
    SHARED,
  ],
  // The timeline of traced iterations.
  'renderer/charts/timeline': ['renderer/charts', 'renderer/state/*', SHARED],
  // What buckets cost: a table, and a heat map over time.
  'renderer/charts/buckets': [
    'renderer/charts',
    'renderer/components/parts',
    'renderer/state/*',
    SHARED,
  ],
  // What its machines did beside the step.
  'renderer/charts/machines': [
    'renderer/charts',
    'renderer/components/parts',
    'renderer/state/*',
    SHARED,
  ],
  'renderer/components/parts': [SHARED],
  'renderer/components/settings': [SHARED],
  'renderer/components/page': ['renderer/state/*', SHARED],
  'renderer/components/experiment': [
    'renderer/components/parts',
    'renderer/state/*',
    SHARED,
  ],
  'renderer/components/runs': [
    'renderer/components/experiment',
    'renderer/components/parts',
    'renderer/state/*',
    SHARED,
  ],
  // The list of runs: its filter, its tools, and what is chosen.
  'renderer/components/figures': [
    'renderer/components/parts',
    'renderer/state',
    'renderer/state/*',
    SHARED,
  ],
  'renderer/components/run-list': [
    'renderer/components/parts',
    'renderer/state/*',
    SHARED,
  ],
  'renderer/components/comparison': [
    'export/picture',
    'renderer/charts',
    'renderer/components/parts',
    'renderer/state/*',
    SHARED,
  ],
  'renderer/components/plan': [
    'renderer/charts',
    'renderer/components/parts',
    'renderer/state/*',
    SHARED,
  ],
  'renderer/components/sweeps': [
    'renderer/charts',
    'renderer/components/parts',
    'renderer/state/*',
    SHARED,
  ],
  'renderer/components/cluster': [
    'renderer/components/parts',
    'renderer/state/*',
    SHARED,
  ],
  'renderer/views': [
    'renderer/charts/*',
    'renderer/components/*',
    'renderer/state/*',
    SHARED,
  ],
  // A bundle of its own, loaded with the first terminal.
  'renderer/terminal': ['renderer/components/*', 'renderer/state/*', SHARED],
  renderer: [
    'renderer/components/*',
    'renderer/state/*',
    'renderer/styles',
    'renderer/terminal',
    'renderer/views',
    SHARED,
  ],
};

/** Where nothing of Node's may be imported: the code also runs in a browser. */
const PLATFORM_FREE = /^(export|shared|renderer)(\/|$)/;

function permits(entry, room, file) {
  if (entry.endsWith('.ts')) return entry === file;
  if (!entry.endsWith('/*')) return entry === room;
  const folder = entry.slice(0, -2);
  return room === folder || room.startsWith(`${folder}/`);
}

/** The rooms that a room may import. */
function allowedOf(room) {
  return Object.keys(rooms).filter(
    (other) =>
      other !== room &&
      rooms[room].some((entry) =>
        entry.endsWith('.ts')
          ? path.posix.dirname(entry) === other
          : permits(entry, other),
      ),
  );
}

/** @throws Error naming the rooms of a cycle, or a room that the table does not have */
export function requireNoCycle() {
  const done = new Set();
  const visit = (room, above) => {
    if (above.includes(room)) {
      throw new Error(`eslint-rooms.js: a cycle: ${[...above, room].join(' -> ')}`);
    }
    if (done.has(room)) return;
    for (const other of allowedOf(room)) visit(other, [...above, room]);
    done.add(room);
  };
  for (const room of Object.keys(rooms)) visit(room, []);
}

requireNoCycle();

const source = path.join(import.meta.dirname, 'src');

function complaint(from, specifier) {
  const room = path.posix.dirname(from);
  if (rooms[room] === undefined) return `eslint-rooms.js has no room ${room}`;
  if (specifier.startsWith('node:') && PLATFORM_FREE.test(room)) {
    return `${room} also runs in a browser: nothing of Node's here`;
  }
  if (!specifier.startsWith('.')) return undefined;
  const file = path.posix.join(room, specifier);
  const other = path.posix.dirname(file);
  // Outside src/ lies the manifest, from which the version is read.
  if (other === room || file.startsWith('..')) return undefined;
  if (rooms[room].some((entry) => permits(entry, other, file))) return undefined;
  return `${room} may not import ${file} (eslint-rooms.js, docs/architecture.md)`;
}

export const roomRule = {
  meta: { type: 'problem', schema: [] },
  create(context) {
    const from = path
      .relative(source, context.filename)
      .replaceAll(path.sep, path.posix.sep);
    const check = ({ source: specifier }) => {
      if (typeof specifier?.value !== 'string') return;
      const message = complaint(from, specifier.value);
      if (message !== undefined) context.report({ node: specifier, message });
    };
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
    };
  },
};
