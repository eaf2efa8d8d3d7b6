/** Child of namespaces-left.test.ts: makes networks as a benchmark does, names them and waits. */
import '../../../bench/parent.ts';
import { RankNamespaces } from '../../harness/namespaces.ts';

const { names } = new RankNamespaces({ ranks: 6 });
process.stdout.write(`${names.join(' ')}\n`);
setInterval(() => undefined, 60_000);
