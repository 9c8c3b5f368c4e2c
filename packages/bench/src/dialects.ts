/** Dialects of clients and of the provider. */
export const dialects = ['responses', 'chat'] as const
export type Dialect = (typeof dialects)[number]
