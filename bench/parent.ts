/**
 * Ends the benchmark at a signal, or with the command that started it, however that ends. The
 * command passes signals on; if it is killed, the channel between the two closes. Ending is an
 * exit in each case, so what stands until the process exits is taken down.
 */
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

if (process.channel !== undefined) {
  process.once('disconnect', () => process.exit(1));
  // The channel alone does not keep a benchmark running that is done.
  process.channel?.unref();
}
