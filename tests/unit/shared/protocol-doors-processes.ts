/** Doors of the processes beside an app or a supervisor, other than workers. */
import * as allreduce from '../../../src/agent/allreduce/rank-protocol.ts';
import * as probe from '../../../src/agent/probe/rank-protocol.ts';
import * as watcher from '../../../src/agent/supervisor/utilisation/watcher-protocol.ts';
import {
  forecastCallSchema,
  forecastReplySchema,
} from '../../../src/shared/forecast/forecast-question.ts';
import { checkedMessage } from '../../../src/shared/protocol/checked-message.ts';
import { candidate } from './forecast-candidate.ts';
import {
  address,
  error,
  kernels,
  network,
  plan,
  refusal,
  secret,
  timing,
  type Doors,
} from './protocol-doors-parts.ts';

const timed = { bytes: 8, seconds: [1e-6, 2e-6] };
const question = {
  // Checked by the spec's own parser, later.
  spec: {},
  worlds: [{ ranks: 2, network, places: [0, 1] }],
  compute: 0.01,
  memory: true,
  rehearse: false,
};

export const PROCESS_DOORS: Doors = {
  'an allreduce rank’s': [
    (raw) => checkedMessage(allreduce.toRankSchema, raw, refusal),
    [
      { type: 'load', rank: 1, file: '/tmp/x.f32', values: 'f64' },
      {
        type: 'reduce',
        addresses: [address, address],
        run: 'allreduce',
        secret,
        collective: 'ring',
        kind: 'dense',
        operation: 'sum',
        transport: 'auto',
        encrypt: true,
        places: [0, 1],
        servers: 1,
        seed: 1,
        quantization: { bits: 4, bucket: 512, scale: 'max' },
        network: {
          bandwidth: 1e9,
          latency: 0.05,
          pairs: [{ between: ['a', 'b'], bandwidth: 1e8, latency: 1 }],
        },
      },
      { type: 'write', file: '/tmp/y.f32' },
    ],
  ],
  'the parent’s of allreduce ranks': [
    (raw) => checkedMessage(allreduce.fromRankSchema, raw, refusal),
    [
      {
        type: 'loaded',
        address,
        length: 9,
        nnz: 3,
        notFinite: { count: 2, index: 1, value: 'NaN' },
      },
      {
        type: 'reduced',
        milliseconds: 1.5,
        wireSent: 10,
        wireReceived: 10,
        transport: 'native',
        form: 'sparse',
        nnz: 3,
      },
      { type: 'written' },
    ],
  ],
  'a measuring rank’s': [
    (raw) => checkedMessage(probe.toRankSchema, raw, refusal),
    [
      { type: 'listen', rank: 0, host: '::1', ports: { first: 5, last: 9 } },
      {
        type: 'probe',
        addresses: [address, address],
        run: 'network',
        secret,
        transport: 'tcp',
        effort: 'quick',
      },
      { type: 'time', addresses: [address, address], run: 'l', secret, encrypt: true },
    ],
  ],
  'the parent’s of measuring ranks': [
    (raw) => checkedMessage(probe.fromRankSchema, raw, refusal),
    [
      { type: 'listening', address },
      {
        type: 'probed',
        transport: 'tcp',
        timings: {
          pairs: [{ ranks: [0, 1], messages: [timed] }],
          loaded: [{ ranks: 2, messages: [timed], bursts: [] }],
          kernels,
          collectives: [{ collective: 'ring', length: 8, seconds: [1e-6] }],
        },
      },
      { type: 'timed', timing, transport: 'tcp' },
    ],
  ],
  'a watcher’s': [
    (raw) => checkedMessage(watcher.toWatcherSchema, raw, refusal),
    [
      {
        type: 'watch',
        processes: [
          { rank: 0, pid: 7 },
          { rank: 1, pid: 8 },
        ],
      },
    ],
  ],
  'the supervisor’s, for a watcher’s readings': [
    (raw) => checkedMessage(watcher.fromWatcherSchema, raw, refusal),
    [
      { type: 'read', processors: 2, at: 5, machine: {}, ranks: [], own: 0 },
      {
        type: 'read',
        processors: 1.5,
        at: 1e12,
        machine: {
          processors: { busy: 0.5, stolen: 0.1 },
          memory: { total: 2 ** 33, used: 2 ** 30 },
          network: { received: 1e6, sent: 1e6, loopback: 0 },
        },
        ranks: [{ rank: 0, busy: 0.9, memory: 2 ** 28 }],
        own: 0.01,
      },
      {
        type: 'gpu',
        bus: '00000000:3B:00.0',
        name: 'H200',
        busy: 0.5,
        memory: 9,
        total: 10,
      },
      { type: 'gpu', bus: '00000000:3B:00.0', name: 'H200' },
    ],
  ],
  'the forecaster’s': [
    (raw) => checkedMessage(forecastCallSchema, raw, refusal),
    [
      { id: 7, question },
      { id: 8, question: { ...question, exchanges: [plan], elements: 9 } },
    ],
  ],
  'the app’s, for forecasts': [
    (raw) => checkedMessage(forecastReplySchema, raw, refusal),
    [
      { id: 7, answer: { worlds: [[candidate], []], elements: 9 } },
      {
        id: 8,
        answer: {
          worlds: [[{ ...candidate, servers: 2 }]],
          elements: 9,
          memory: [[{ name: 'gradients', bytes: 36 }]],
        },
      },
      { id: 9, error },
      { error },
    ],
  ],
};
