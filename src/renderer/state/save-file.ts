/** Saves pieces of text as one file through the browser's download. */
export function saveFile(name: string, type: string, parts: string[]): void {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The download holds its own reference once the click returns.
  URL.revokeObjectURL(address);
}
