import { describeLosses } from './loss-table.ts';

describeLosses(2, true);
