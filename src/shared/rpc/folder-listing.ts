/** Folders of the computer on which the app runs, as a page shows them to choose a script. */

/** A folder and the way to it. */
export interface FolderPlace {
  readonly name: string;
  /** Absolute. */
  readonly path: string;
}

export interface FolderListing {
  /** Absolute. */
  readonly path: string;
  /** The folders above it and itself, the root first. */
  readonly places: readonly FolderPlace[];
  readonly folders: readonly FolderPlace[];
  /** Names of Python files in it. */
  readonly scripts: readonly string[];
  /** Whether there is more in it than is listed. */
  readonly isCut: boolean;
}

/** Most folders, and most scripts, in a listing. */
export const MOST_LISTED = 500;
