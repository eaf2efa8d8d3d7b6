import { describeLosses } from './loss-table.ts';

describeLosses(1, true);
