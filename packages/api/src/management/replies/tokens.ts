import type { Field } from '@signalbox/core/resources'

/** The token counts of one or many requests. */
export interface TokenCounts {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly reasoningTokens: number
}

const tokenCount = (description: string, example: number) => ({ kind: 'integer', reply: 'always', description, example }) as const

/** Token counts as an object of a reply. */
export const tokensField = {
  kind: 'object',
  fields: {
    input: tokenCount('Input tokens, including cached ones.', 1_200),
    output: tokenCount('Output tokens, including reasoning.', 340),
    total: tokenCount('Input and output tokens.', 1_540),
    cached: tokenCount('Input tokens read from a prompt cache.', 500),
    cacheWrite: tokenCount('Input tokens written to a prompt cache.', 0),
    reasoning: tokenCount('Output tokens of reasoning.', 120),
  },
  reply: 'always',
  description: 'Token counts.',
  from: (row: TokenCounts) => ({
    input: row.inputTokens,
    output: row.outputTokens,
    total: row.inputTokens + row.outputTokens,
    cached: row.cachedTokens,
    cacheWrite: row.cacheWriteTokens,
    reasoning: row.reasoningTokens,
  }),
} as const satisfies Field & { readonly from: unknown }
