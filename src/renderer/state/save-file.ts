/** Saves text as a file through the browser's download. */
export function saveFile(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The download holds its own reference once the click returns.
  URL.revokeObjectURL(address);
}
