/**
 * Ends the benchmark at a signal, or with the command that started it, however that ends. The
 * command passes signals on; if it is killed, the channel between the two closes. Ending is an
 * exit in each case, so what stands until the process exits is taken down. A signal may come twice,
 * for the whole process group and once more from the command; the second must not end that. A reader
 * that has had enough ends it, too.
 */
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
process.on('SIGHUP', () => process.exit(129));
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') process.exit(0);
  process.stderr.write(
    `gradwire: OUTPUT_FAILED: cannot write the output: ${message}\n`,
  );
  process.exit(1);
});

if (process.channel !== undefined) {
  process.once('disconnect', () => process.exit(1));
  // The channel alone does not keep a benchmark running that is done.
  process.channel?.unref();
}
