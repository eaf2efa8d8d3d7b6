/** Faults of a forecaster that nothing catches, in the place of its answer; its environment says which. */
const faults = {
  throws: () => {
    throw new Error('a planted fault');
  },
  rejects: () => void Promise.reject(new Error('a planted fault')),
  ends: () => process.exit(3),
  killed: () => process.kill(process.pid, 'SIGKILL'),
};
const { emit } = process;
process.emit = (event, ...more) => {
  if (event !== 'message') return emit.call(process, event, ...more);
  setImmediate(faults[process.env['FORECASTER_FAULT']]);
  return true;
};
