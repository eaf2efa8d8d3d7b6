/** Folders of `dist` that the kit takes with it: the command needs files of the other two. */
export const BUILT_FOLDERS = ['agent', 'cli', 'engine'];
