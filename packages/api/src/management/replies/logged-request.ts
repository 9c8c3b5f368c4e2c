import type { Analytics } from '@signalbox/workspaces'
import { fieldsOf, type ReplyTable } from './reply-table.ts'
import { tokensField } from './tokens.ts'

/** A row of the request log, as core returns it. */
export type RequestRow = Awaited<ReturnType<Analytics['request']>>

const { flag, integer, text, textOrNull, time, usd } = fieldsOf<RequestRow>()

const id = '01a1fd6c-4db3-76f2-bb09-734d779bb6f4'

/** A row of the request log. */
export const loggedRequestReply: ReplyTable<RequestRow> = {
  id: text({ description: 'Id of the request, as in its `X-Request-ID`.', example: id, from: row => row.id }),
  at: time({ description: 'When the request arrived.', example: '2026-11-20T08:00:00.000Z', from: ({ at }) => at }),
  apiKeyId: text({
    description: 'Id of its API key, or `user:` and the id of a user of the app.',
    example: id,
    from: ({ keyId }) => keyId,
  }),
  modelRequested: text({ description: 'The model as the request named it.', example: 'gpt-5-mini-latest', from: row => row.modelAsked }),
  model: text({ description: 'Canonical id of the model.', example: 'gpt-5-mini', from: ({ model }) => model }),
  provider: textOrNull({
    description: 'The provider that answered. null: no provider was reached.',
    example: 'groq',
    from: ({ provider }) => (provider === '' ? undefined : provider),
  }),
  strategy: text({ description: 'The routing strategy.', example: 'balanced', from: ({ strategy }) => strategy }),
  status: {
    kind: 'enum',
    values: ['ok', 'incomplete', 'error', 'rate_limited', 'abandoned', 'interrupted'],
    reply: 'always',
    description: 'How the request ended.',
    example: 'ok',
    from: ({ result }) => result,
  },
  errorCode: textOrNull({ description: 'The error code; null if the request did not fail.', example: null, from: ({ code }) => code }),
  stream: flag({ description: 'Whether the response was streamed.', example: true, from: ({ streamed }) => streamed }),
  byok: flag({
    description: 'Whether a provider key of the workspace was used.',
    example: false,
    from: ({ credential }) => credential === 'workspace',
  }),
  tokens: tokensField,
  estimated: flag({
    description: 'Whether the token counts are estimates of the gateway, because the provider reported none.',
    example: false,
    from: ({ estimated }) => estimated,
  }),
  cost: usd({ description: 'Charged to the workspace, in USD.', example: 0.0021, from: ({ cost }) => cost }),
  byokCost: usd({
    description: 'Amount that the provider bills to the provider key of the workspace, in USD at list price.',
    example: 0,
    from: ({ byokCost }) => byokCost,
  }),
  ttftMs: {
    kind: 'number',
    reply: 'nullable',
    description: 'Time to the first content, in milliseconds; null if there was none.',
    example: 412,
    from: ({ firstContentMs }) => firstContentMs,
  },
  durationMs: {
    kind: 'number',
    reply: 'always',
    description: 'Time to the end of the response, in milliseconds.',
    example: 1_830,
    from: ({ durationMs }) => durationMs,
  },
  attempts: integer({ description: 'Number of calls to providers.', example: 1, from: ({ attempts }) => attempts }),
  warnings: {
    kind: 'list',
    of: { kind: 'string' },
    reply: 'always',
    description: 'Codes of the warnings.',
    example: [],
    from: ({ warnings }) => warnings,
  },
  metadata: {
    kind: 'map',
    reply: 'always',
    description: '`gateway.metadata` of the request.',
    example: { feature: 'search' },
    from: ({ metadata = {} }) => metadata,
  },
  tags: {
    kind: 'list',
    of: { kind: 'string' },
    reply: 'always',
    description: 'Tags of the caller and of `gateway.metadata.tags`.',
    example: ['plan:pro'],
    from: ({ tags = [] }) => tags,
  },
}
