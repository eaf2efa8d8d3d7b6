/** A supervisor that is stopped as it starts, and for whoever starts it a clock that runs 100 times as fast. */
const [, entry = ''] = process.argv;
if (entry.endsWith('supervisor.js')) {
  process.stderr.write('stopped\n');
  process.kill(process.pid, 'SIGSTOP');
}
if (entry.endsWith('attach.js')) {
  const now = performance.now.bind(performance);
  performance.now = () => 100 * now();
}
