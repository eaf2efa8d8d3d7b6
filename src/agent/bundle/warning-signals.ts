/**
 * Signals by which batch systems warn that a job's time ends (`sbatch --signal=USR1@60`); they send them
 * to every process. At SIGUSR1 Node would open a debugger on port 9229, through which every user of the
 * machine could run code as this one; SIGUSR2 would end the process.
 */
const WARNINGS = ['SIGUSR1', 'SIGUSR2'] as const;

/** Goes on at a warning: what ends is told by other means. Each entry of ours calls this first. */
export function ignoreWarningSignals(): void {
  // Windows has neither.
  if (process.platform === 'win32') return;
  for (const signal of WARNINGS) {
    // A process that runs several commands does it once.
    if (process.listenerCount(signal) === 0) process.on(signal, () => undefined);
  }
}
