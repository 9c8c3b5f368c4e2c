import { keyUsageFields } from '@signalbox/core/resources'
import type { KeyUsage } from '@signalbox/workspaces'
import { fieldsOf, type ReplyTable } from './reply-table.ts'

const { integer, text, usd } = fieldsOf<KeyUsage>()

const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** The usage of an API key in a period. */
export const keyUsageReply: ReplyTable<KeyUsage> = {
  keyId: text({ description: 'Id of the API key.', example: '01a1fd6c-4db3-76f2-bb09-734d779bb6f4', from: ({ keyId }) => keyId }),
  workspaceId: text({ description: 'Id of the workspace.', example: 'acme', from: ({ workspaceId }) => workspaceId }),
  period: {
    kind: 'enum',
    values: keyUsageFields.period.values,
    reply: 'always',
    description: 'Length of the period.',
    example: 'month',
    from: ({ period }) => period,
  },
  startDate: text({ description: 'First day of the period, in UTC.', example: '2026-11-01', from: ({ start }) => dateOf(start) }),
  // The last day of the period, not the first of the next.
  endDate: text({ description: 'Last day of the period, in UTC.', example: '2026-11-30', from: ({ end }) => dateOf(end - 1) }),
  requestCount: integer({ description: 'Number of requests.', example: 120, from: ({ requests }) => requests }),
  errorCount: integer({ description: 'Requests that failed.', example: 2, from: ({ errors }) => errors }),
  rateLimitCount: integer({
    description: 'Requests that got 429: refused by a limit of the key or its workspace, or rate limited by every provider.',
    example: 0,
    from: ({ rateLimited }) => rateLimited,
  }),
  tokensInput: integer({ description: 'Input tokens.', example: 48_000, from: ({ inputTokens }) => inputTokens }),
  tokensOutput: integer({ description: 'Output tokens.', example: 9_100, from: ({ outputTokens }) => outputTokens }),
  tokensTotal: integer({
    description: 'Input and output tokens.',
    example: 57_100,
    from: ({ inputTokens, outputTokens }) => inputTokens + outputTokens,
  }),
  cost: usd({
    description: 'Charged to the workspace, in USD. Costs that providers bill to its own keys are not included.',
    example: 0.18,
    from: ({ cost }) => cost,
  }),
}
