/** Folders of `dist` that the kit takes with it. */
export const BUILT_FOLDERS = ['agent', 'cli'];
