/**
 * A kernel thread: an instance of the module on the caller's memory, which takes slices
 * of the job on the board until the board is ended.
 */
import { workerData } from 'node:worker_threads';
import { JobBoard } from './job-board.ts';
import { instantiate } from './kernel-exports.ts';
import type { KernelThreadData } from './kernel-threads.ts';

const { memory, module, board, thread } = workerData as KernelThreadData;
new JobBoard(memory, board).serve(instantiate(module, memory), thread);
