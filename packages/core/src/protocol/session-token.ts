/** What the token of a session begins with. */
export const sessionTokenPrefix = 'st_'
