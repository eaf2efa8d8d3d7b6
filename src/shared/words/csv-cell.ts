/**
 * Cells of CSV (RFC 4180). Numbers are unrounded; an empty cell is what was not observed. Names and
 * messages come from whoever wrote the spec or the program, so a text that a spreadsheet would take
 * for a formula gets an apostrophe before it (OWASP, CSV injection).
 */
const FORMULA = /^[=+\-@\t\r]/;

export function csvCell(cell: string | number | undefined): string {
  if (cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  const isFormula = FORMULA.test(cell) && !Number.isFinite(Number(cell));
  const text = isFormula ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
