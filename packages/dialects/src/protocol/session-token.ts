/** Prefix of session tokens. */
export const sessionTokenPrefix = 'st_'
