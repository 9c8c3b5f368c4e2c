import type { Route } from '@signalbox/api/routes'
import { ask, type Testbed } from './asking.ts'

/** A body that each row takes, by the name of its schema. A new row needs one here, and nothing else. */
export const bodies: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  CreateApiKey: {
    name: 'backend',
    key_type: 'api',
    scopes: ['inference:invoke'],
    rate_limit_rpm: 10,
    expires_at: '2999-01-31T12:00:00Z',
    budget: { limit_usd: 5, enforce: true, include_byok: false },
  },
  UpdateApiKey: { name: 'other', rate_limit_rpm: null, expires_at: '2999-01-31T12:00:00Z' },
  CreateSession: {
    user: 'u_42',
    tags: ['plan:pro'],
    models: ['test-model'],
    max_spend_usd: 0.5,
    origins: ['https://app.example'],
    limits: { requests_per_minute: 20 },
    budgets: [{ limit_usd: 5, period: 'day', group: 'free' }],
    expires_in: 900,
  },
  RotateApiKey: { grace_period: 60 },
  UpdateSettings: { name: 'Renamed', data_policy_required: 'no_training', log_retention_days: 30 },
  UpdateRoutingDefaults: { strategy: 'cost', allow_fallbacks: false, max_price: { input: 1 } },
  UpdateMember: { role: 'viewer' },
  CreateInvite: { email: 'new@example.com', role: 'developer' },
  AcceptInvite: { token: 'inv_nobody', name: 'Nobody' },
  CreateByokKey: { provider: 'brought', api_key: 'sk-of-my-own-0123456789', name: 'mine' },
  UpdateByokKey: { name: 'renamed', disabled: true },
  CreateBudget: { name: 'all', period: 'month', limit_usd: 100, alert_at: [0.5, 1] },
  UpdateBudget: { limit_usd: 200, enforce: true },
  CreateCredit: { amount_microdollars: 1_000_000, reference: 'invoice 17', note: 'paid' },
  UpdateAutoReload: { enabled: true, threshold_microdollars: 1_000_000, target_microdollars: 5_000_000 },
}

const created =
  (path: string, body: string) =>
  async (testbed: Testbed): Promise<string> =>
    (await ask(testbed, `POST /v1/workspaces/${testbed.workspaceId}/${path}`, { body: bodies[body] })).json.id

/** How a workspace comes by what a path names. */
export const makers: Readonly<Record<string, (testbed: Testbed) => Promise<string>>> = {
  api_key_id: created('api-keys', 'CreateApiKey'),
  session_id: created('sessions', 'CreateSession'),
  invite_id: created('invites', 'CreateInvite'),
  byok_key_id: created('byok-keys', 'CreateByokKey'),
  budget_id: created('budgets', 'CreateBudget'),
  async member_id(testbed) {
    const body = { email: 'member@example.com', role: 'developer' }
    const { token } = (await ask(testbed, `POST /v1/workspaces/${testbed.workspaceId}/invites`, { body })).json
    return (await ask(testbed, 'POST /v1/invites/accept', { body: { token, name: 'Member' } })).json.id
  },
  async request_id(testbed) {
    const { headers } = await ask(testbed, 'POST /v1/responses', { body: { model: 'test-model', input: 'Hello.' } })
    return headers['x-request-id'] ?? ''
  },
}

/** The body for a row. None, where it takes none. */
export function bodyFor({ body, method, path }: Pick<Route, 'body' | 'method' | 'path'>): Readonly<Record<string, unknown>> {
  if (body === undefined) return {}
  const sample = bodies[body]
  if (sample === undefined)
    throw new Error(`There is no sample of "${body}" for ${method} ${path}: add it to \`bodies\` in test/matrix/samples.ts.`)
  return sample
}
