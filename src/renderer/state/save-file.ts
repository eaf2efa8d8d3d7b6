/** Hands text to the user as a file, through the browser's own download. */
export function saveFile(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The download has taken its own reference when the click returns.
  URL.revokeObjectURL(address);
}
