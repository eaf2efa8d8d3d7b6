/**
 * Loaded into a supervisor before its own code: faults that nothing catches, one that belongs to
 * the run with the name `victim` and, with it, one that belongs to none.
 */
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

const { spawn } = childProcess;
const outside = Promise.withResolvers();
void outside.promise.then(() => Promise.reject(new Error('a fault of nobody')));

childProcess.spawn = (command, args, options) => {
  if (args.includes('victim')) {
    setTimeout(() => {
      outside.resolve();
      throw new Error('a fault of the run');
    }, 100);
  }
  return spawn(command, args, options);
};
syncBuiltinESMExports();
