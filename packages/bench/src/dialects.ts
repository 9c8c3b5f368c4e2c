/** Dialects of providers; clients use the first three. */
export const dialects = ['responses', 'chat', 'messages', 'gemini', 'bedrock'] as const
export type Dialect = (typeof dialects)[number]
