/**
 * Ends the benchmark with the command that started it, however that ends. The command
 * passes signals on; if it is killed, the channel between the two closes.
 */
if (process.channel !== undefined) {
  process.once('disconnect', () => process.exit(1));
  // The channel alone does not keep a benchmark running that is done.
  process.channel?.unref();
}
