/** The last line of a report: `Made by Gradwire 1.2.3, 2026-03-01 12:00 UTC.` */
import { utcMoment } from './utc-moment.ts';

export const madeBy = (version: string, at: number): string =>
  `Made by Gradwire ${version}, ${utcMoment(at)}.`;
