import { keyUsageFields } from '@signalbox/core/resources'
import { json } from '../json-reply.ts'
import type { WorkspaceRoute } from '../route.ts'
import { keyUsageReply } from './replies/key-usage.ts'
import { replyOf } from './replies/reply-table.ts'
import { reading } from './rows.ts'

const periods = keyUsageFields.period.values

export const keyUsageRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: '/v1/workspaces/:workspace_id/api-keys/:api_key_id/usage',
    client: 'apiKeys.usage',
    needs: ['keys:read', 'usage:read'],
    summary: 'Get the usage of an API key in the current day, week or month (UTC; weeks begin on Monday).',
    query: [{ name: 'period', description: 'Default: `month`.', values: periods }],
    reply: 'ApiKeyUsage',
    async handler({ params, query }, { apiKeys }) {
      const period = periods.find(each => each === query.period) ?? 'month'
      return json(replyOf(keyUsageReply, await apiKeys.usage(params.api_key_id ?? '', { period })))
    },
  },
]
