import { describe, expect, test } from 'vitest';
import { parsePreflight } from '../../../src/main/deploy/preflight.ts';
import {
  activityBytes,
  activityPart,
  activityText,
  connectionText,
  gpuText,
  machineFacts,
  readyText,
  machineSummary,
  nameOf,
  slurmFacts,
} from '../../../src/renderer/state/cluster/node-text.ts';
import {
  rankGpus,
  rankNodes,
  rankTitle,
  shortBus,
} from '../../../src/shared/verdict/rank-nodes.ts';
import { machineNames } from '../../../src/shared/machines/machine-names.ts';
import { parseNodeEntry } from '../../../src/shared/machines/node-entry.ts';
import type { NodeStatus } from '../../../src/shared/machines/node-status.ts';
import type { RunEvent } from '../../../src/shared/records/record-kinds.ts';
import type { StartedRecord } from '../../../src/shared/records/started.ts';
import { slurmSettingsSchema } from '../../../src/shared/machines/slurm-settings.ts';

const entry = parseNodeEntry({ name: 'box', destination: 'box.lab' });
const status = (more: Partial<NodeStatus> = {}): NodeStatus => ({
  name: 'box',
  entry,
  connection: 'idle',
  runs: [],
  ...more,
});

describe('a machine in words', () => {
  test.each([
    [{ kind: 'check' as const }, 'Checking the machine…', undefined, undefined],
    [
      {
        kind: 'deploy' as const,
        progress: {
          step: 'upload' as const,
          package: 'agent' as const,
          doneBytes: 500_000,
          totalBytes: 2_000_000,
        },
      },
      'Deploying: uploading the agent',
      0.25,
      '500 kB of 2.00 MB',
    ],
    [
      { kind: 'deploy' as const, progress: { step: 'verify' as const } },
      'Deploying: verifying',
      undefined,
      undefined,
    ],
  ])('%#: what is done there', (activity, text, part, bytes) => {
    expect(activityText(activity)).toBe(text);
    expect(activityPart(activity)).toBe(part);
    expect(activityBytes(activity)).toBe(bytes);
  });

  test('what it did not say is not shown', () => {
    const facts = machineFacts(parsePreflight('system=Linux', 0));
    expect(facts.map(({ name }) => name)).toEqual(['system', 'Node', 'home']);
  });

  test('a GPU, and who else computes on it', () => {
    const gpu = { name: 'NVIDIA H100', memoryMiB: 81_559, bus: '0000:3b:00.0' };
    expect(gpuText({ ...gpu, othersProcesses: 0 })).toBe(
      'NVIDIA H100, 85.5 GB, 0000:3b:00.0',
    );
    expect(gpuText(gpu)).toMatch(/, whether others use it is not known$/);
    expect(gpuText({ ...gpu, othersProcesses: 1 })).toMatch(
      /, 1 process of other users$/,
    );
    expect(gpuText({ name: 'GPU', othersProcesses: 2 })).toBe(
      'GPU, 2 processes of other users',
    );
  });

  test('a machine that is out of reach says that its runs go on', () => {
    const runs = [{ id: 'r', name: 'run' }];
    expect(connectionText(status()).word).toBe('not connected');
    expect(connectionText(status({ connection: 'connected' })).tone).toBe('good');
    expect(connectionText(status({ connection: 'reconnecting', runs })).word).toBe(
      'reconnecting, runs continue',
    );
    expect(connectionText(status({ connection: 'refused', runs })).word).toBe(
      'log-in refused, runs continue: check it',
    );
    expect(connectionText(status({ entry: undefined })).word).toBe('here');
  });

  test('the chip has the round trip, or how often it was tried to reach an idle machine', () => {
    const word = (more: Partial<NodeStatus>) => connectionText(status(more)).word;
    expect(word({ connection: 'connected', roundTripMs: 12.34 })).toBe(
      'connected, 12 ms',
    );
    expect(word({ connection: 'connected', roundTripMs: 0.4 })).toBe(
      'connected, < 1 ms',
    );
    const attempt = { number: 3, last: 8 };
    expect(word({ connection: 'reconnecting', attempt })).toBe('reconnecting, 3 of 8');
    const error = { code: 'SUPERVISOR_TIMEOUT', kind: 'failure', message: '' } as const;
    expect(word({ connection: 'connected', silence: { since: 1, error } })).toBe(
      'does not answer',
    );
    expect(connectionText(status({ connection: 'unreachable' }))).toEqual({
      word: 'unreachable',
      tone: 'bad',
    });
  });

  test('a machine is called ready only while nothing speaks against it', () => {
    const preflight = parsePreflight('system=Linux\nmachine=x86_64\nlibc=glibc', 0);
    expect(preflight.findings).toEqual([]);
    const error = { code: 'SSH_UNREACHABLE', kind: 'failure', message: 'm' } as const;
    const text = (more: Partial<NodeStatus>) =>
      readyText(status({ preflight, ...more }));
    expect(text({})).toBe('Ready for runs.');
    expect(text({ connection: 'connected' })).toBe('Ready for runs.');
    expect(text({ connection: 'unreachable' })).toBeUndefined();
    expect(text({ connection: 'reconnecting' })).toBeUndefined();
    expect(text({ error })).toBeUndefined();
    const found = (...levels: readonly ('error' | 'warning')[]) => ({
      preflight: {
        ...preflight,
        findings: levels.map((level) => ({ level, code: 'CODE', message: 'so' })),
      },
    });
    expect(text(found('warning', 'warning'))).toBe('Ready for runs, with warnings.');
    expect(text(found('warning', 'error'))).toBeUndefined();
    expect(readyText(status())).toBeUndefined();
  });

  test.each([
    [['this-computer'], 'this computer'],
    [['this-computer', 'box'], 'this computer and box'],
    [['a', 'b', 'c', 'd'], 'a, b, c and d'],
    [['a', 'b', 'c', 'd', 'e'], 'a, b, c and 2 others'],
  ])('the machines of a run, %j, are %s', (nodes, names) => {
    expect(machineNames(nodes)).toBe(names);
  });

  test.each([
    ['gpu1.lab.example', 'gpu1'],
    ['gpu1', 'gpu1'],
    ['10.0.0.7', '10.0.0.7'],
    ['fd00::7', 'ipfd00--7'],
    ['::1', 'ip--1'],
    ['', ''],
  ])('%s is called %s', (host, name) => {
    expect(nameOf(host)).toBe(name);
    if (name !== '')
      expect(parseNodeEntry({ name, destination: host }).name).toBe(name);
  });
});

describe('ranks on machines', () => {
  const started = (node: string, ...ranks: number[]): StartedRecord => ({
    type: 'started',
    at: 0,
    ranks: 4,
    backend: 'wasm',
    parameters: 1,
    plan: { method: 'none', parameters: {}, collective: 'ring', bucketBytes: 4 },
    processes: ranks.map((rank) => ({ rank, node, pid: 1 })),
  });

  test('are named where there are several', () => {
    const nodes = rankNodes([started('here', 0, 1), started('box', 2, 3)]);
    expect(rankTitle(1, nodes)).toBe('rank 1 on here');
    expect(rankTitle(3, nodes)).toBe('rank 3 on box');
    expect(rankTitle(9, nodes)).toBe('rank 9');
  });

  test('have their GPUs beside them, where drivers say which; the newest start counts', () => {
    const bus = '00000000:3B:00.0';
    const device = 'NVIDIA H200';
    const before = { ...started('box', 0, 1, 2), backend: 'webgpu' };
    const [zero, one, two] = before.processes;
    const processes = [{ ...zero!, device, bus }, { ...one!, device }, two!];
    const gpus = rankGpus([{ ...before, processes }]);
    expect([...gpus]).toEqual([[0, { device, bus }]]);
    expect(shortBus(bus)).toBe('3B:00.0');
    expect(shortBus('00010000:3B:00.0')).toBe('00010000:3B:00.0');
    const restarted: RunEvent = {
      type: 'restarted',
      at: 1,
      node: 'box',
      iteration: 20,
      processes: [{ ...zero!, device, bus: '00000000:5E:00.0' }],
    };
    expect(rankGpus([{ ...before, processes }, restarted]).get(0)?.bus).toMatch(/5E/);
  });

  const allocated: RunEvent = {
    type: 'allocated',
    at: 0,
    node: 'hpc',
    job: '7',
    computeNodes: ['n0'],
  };
  const restarted = (node: string, ...ranks: number[]): RunEvent => ({
    type: 'restarted',
    at: 1,
    node: 'hpc',
    iteration: 5,
    processes: ranks.map((rank) => ({ rank, node, pid: 2 })),
  });

  test('are named on one that a cluster has chosen', () => {
    const nodes = rankNodes([allocated, started('n0', 0, 1, 2, 3)]);
    expect(rankTitle(1, nodes)).toBe('rank 1 on n0');
  });

  test('are where they have gone on', () => {
    const nodes = rankNodes([
      ...[allocated, started('n0', 0, 1, 2, 3), restarted('n7', 0, 1, 2, 3)],
    ]);
    expect(rankTitle(2, nodes)).toBe('rank 2 on n7');
  });

  test('are mere numbers on one', () => {
    expect(rankNodes([started('here', 0, 1, 2, 3)]).size).toBe(0);
    expect(rankNodes([]).size).toBe(0);
  });
});

describe('a machine that is chosen for a run', () => {
  const preflight = parsePreflight('system=Linux\nmachine=x86_64\nlibc=glibc', 0);
  const gpu = { name: 'NVIDIA H200' };

  test('has its cores and GPUs, and whether it is ready', () => {
    const seen = { ...preflight, cores: 32, gpus: [gpu, { name: 'L4' }, gpu] };
    expect(machineSummary(status({ preflight: seen }))).toBe(
      '32 cores, 2 × NVIDIA H200, L4, ready',
    );
    expect(machineSummary(status({ entry: undefined }), 1)).toBe('1 core');
  });

  test('says what is known against it', () => {
    const finding = (level: 'error' | 'warning') => ({
      level,
      code: 'C',
      message: 'm',
    });
    const found = [finding('error'), finding('warning'), finding('warning')];
    const error = { code: 'SSH_UNREACHABLE', kind: 'failure', message: 'm' } as const;
    expect(machineSummary(status())).toBe('not checked yet');
    expect(machineSummary(status({ error }))).toBe(
      'last attempt failed (SSH_UNREACHABLE)',
    );
    expect(machineSummary(status({ connection: 'unreachable', preflight }))).toBe(
      'unreachable',
    );
    for (const [findings, text] of [
      [found, '1 error'],
      [found.slice(1), '2 warnings'],
    ] as const)
      expect(machineSummary(status({ preflight: { ...preflight, findings } }))).toBe(
        text,
      );
  });

  test('is a cluster, whose login node’s own hardware does not matter', () => {
    const slurm = slurmSettingsSchema.parse({ partition: 'gpu' });
    const seen = { ...preflight, cores: 8, gpus: [gpu] };
    const login = status({ entry: { ...entry, slurm }, preflight: seen });
    expect(machineSummary(login)).toBe('Slurm cluster, partition gpu, ready');
  });
});

test.each([
  ['1', '1 minute'],
  ['90', '90 minutes'],
  ['30:00', '30:00'],
  ['1-12', '1-12'],
])('a time limit of %s is shown as %s', (time, value) => {
  expect(slurmFacts(slurmSettingsSchema.parse({ time }))).toEqual([
    { name: 'time limit', value },
  ]);
});

test('shows the Slurm settings that were given', () => {
  expect(slurmFacts(slurmSettingsSchema.parse({}))).toEqual([]);
  const given = slurmSettingsSchema.parse({
    partition: 'gpu',
    ranksPerNode: 4,
    gpusPerNode: 4,
    setup: ['module load cuda', 'ulimit -l unlimited'],
    options: ['--qos=high'],
  });
  expect(slurmFacts(given).map(({ name, value }) => `${name}: ${value}`)).toEqual([
    'partition: gpu',
    'ranks per node: at most 4',
    'GPUs per node: 4',
    'setup: module load cuda; ulimit -l unlimited',
    'sbatch: --qos=high',
  ]);
});
