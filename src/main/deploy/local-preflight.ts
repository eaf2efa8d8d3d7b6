/**
 * Inspects this computer as machines are inspected, by the same script where there is a
 * POSIX shell; what Node knows comes from Node. Nothing is deployed here, so only findings
 * about the home directory and GPUs apply.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { text } from 'node:stream/consumers';
import os from 'node:os';
import { failure } from '../../shared/errors/errors.ts';
import type { Finding, Preflight } from '../../shared/machines/preflight.ts';
import type { Home } from '../home/home.ts';
import { INSPECTION } from './preflight-script.ts';
import { parsePreflight } from './preflight.ts';

const DEADLINE_MS = 30_000;
const MEBIBYTE = 2 ** 20;
const APPLICABLE = new Set([
  ...['HOME_READ_ONLY', 'DISK_FULL', 'INODES_EXHAUSTED'],
  ...['GPU_IN_USE', 'VULKAN_MISSING', 'VULKAN_DRIVER_MISSING'],
  ...['TOOL_SILENT', 'TOOL_FAILED'],
  ...['ADDRESS_SPACE_LIMITED', 'OPEN_FILES_LIMITED', 'PROCESSES_LIMITED'],
]);

/** @throws GradwireError `ABORTED` */
export async function localPreflight(
  home: Home,
  signal?: AbortSignal,
): Promise<Preflight> {
  const seen = parsePreflight(await inspect(home, signal), 0);
  return {
    ...seen,
    hostname: os.hostname(),
    system: os.type(),
    kernel: os.release(),
    machine: os.machine(),
    cores: os.availableParallelism(),
    memoryMiB: Math.floor(os.totalmem() / MEBIBYTE),
    home: home.directory,
    clockOffsetSeconds: 0,
    node: process.version,
    bringsNode: false,
    missing: [],
    findings: seen.findings.filter(({ code }) => APPLICABLE.has(code)).map(inPlace),
  };
}

/** The script's answer, with Gradwire's home as HOME; empty without a POSIX shell. */
async function inspect(home: Home, signal?: AbortSignal): Promise<string> {
  if (process.platform === 'win32') return '';
  // By its path: if a program is not found, the timer of `timeout` keeps Node from ending.
  const child: ChildProcess = spawn('/bin/sh', ['-s'], {
    env: {
      ...process.env,
      HOME: home.directory,
      slurm: '0',
      partition: '',
      limit: '',
      here: '1',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: DEADLINE_MS,
    signal,
  });
  const failed = new Promise<string>((resolve) => {
    child.once('error', () => {
      resolve('');
    });
  });
  // A shell that ends early does not read the rest.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(INSPECTION);
  // Where the shell could not be started there may be no streams.
  const said = child.stdout ?? undefined;
  const answer = await (said === undefined
    ? failed
    : Promise.race([text(said), failed]));
  if (signal?.aborted !== true) return answer;
  throw failure('ABORTED', 'the check of this computer was cancelled');
}

const inPlace = (finding: Finding): Finding =>
  finding.code === 'VULKAN_MISSING'
    ? { ...finding, next: 'Install libvulkan1.' }
    : finding;
