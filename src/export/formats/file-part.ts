/** A part of a file that is written as it is read. */
export interface FilePart {
  readonly content: string | Uint8Array<ArrayBuffer>;
  /** The part of the file that ends with it, 0…1, about. */
  readonly done: number;
}
