/** Dialects of providers; clients use the first three. */
export const languages = ['responses', 'chat', 'messages', 'gemini', 'bedrock'] as const
export type Language = (typeof languages)[number]
