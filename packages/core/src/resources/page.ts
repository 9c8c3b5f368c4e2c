/** The options of every list. `after` is the id of the last entry of the previous page. */
export const pageFields = { after: { kind: 'string' }, limit: { kind: 'integer', min: 1 } } as const
