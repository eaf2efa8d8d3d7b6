/**
 * Settings of runs that last until a test ends them. Their ranks sleep most of the time: at full
 * speed they would take the processor from whatever the test waits for.
 */
const network = { bandwidth: '10 Gbit/s', latency: '20 ms' };

/** Two ranks or more: they wait for an emulated network. */
export const LASTING_SPEC = { iterations: 1_000_000, network };

export const LASTING = [
  `iterations=${LASTING_SPEC.iterations}`,
  `network={bandwidth: ${network.bandwidth}, latency: ${network.latency}}`,
];

/** One rank, which exchanges nothing: it sleeps in place of computing, and has no loss. */
export const LASTING_ALONE = [
  ...['world.ranks=1', `iterations=${LASTING_SPEC.iterations}`],
  ...['workload.model=synthetic-gradient', 'workload.dataset=none'],
  'workload.synthetic={layers: [1000], computeMs: 10}',
];
