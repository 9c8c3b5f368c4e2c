import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { codes } from '@signalbox/core/errors'
import { scopes } from '@signalbox/core/resources'
import { expect, test } from 'vitest'
import { allRoutes as routes } from '../src/all-routes.ts'
import type { Route } from '../src/route.ts'

const path = resolve(import.meta.dirname, '../../../docs/api.md')

const access = ({ needs }: Route): string =>
  needs === 'nothing' ? 'public' : needs === 'any key' ? 'any key' : needs.map(scope => `\`${scope}\``).join(' or ')

const query = ({ query: parameters }: Route): string => (parameters ?? []).map(({ name }) => `\`${name}\``).join(', ') || '–'

const errors = ({ errors: list }: Route): string => list.map(code => `\`${code}\` (${codes[code].status})`).join(', ') || '–'

const paths = (rows: readonly Route[]): string => new Intl.ListFormat('en-GB').format(rows.map(({ path }) => `\`${path}\``))

/** The page as the table says it should be. `UPDATE_DOCS=1 pnpm test packages/api/test/docs` writes it. */
const page = `# The API

Written from \`packages/api/src/all-routes.ts\`; a test keeps it true. The whole of it, with schemas, is \`GET /v1/openapi.json\`.

Keys go into \`Authorization: Bearer ak_…\`. Any row that takes a key may also answer \`invalid_api_key\` (401),
\`operation_not_allowed\` (403), \`requests_per_min_exceeded\` (429) and \`service_unavailable\` (503). Errors: [errors.md](errors.md).

${paths(routes.filter(({ keyHeader }) => keyHeader))} also find the
key in \`x-api-key\`, where there is no \`Authorization\`. ${paths(routes.filter(({ idHeader }) => idHeader))} say
\`request-id\` beside \`X-Request-ID\`, and tell errors in the shape of their language.

Rows under \`/v1/workspaces/\` are of the workspace of the key: for any other there is nothing (404), as for what is not there. They
refuse query parameters and fields of the body that they do not know, and answer 202 to what changes something. A list that can
grow comes in pages: \`limit\` 1 to 100 (20), \`after\` an id, and \`has_more\` and \`next\` in the answer.

A POST to one of them may carry an \`Idempotency-Key\`, 1 to 255 visible ASCII characters: the same key and body again within 24
hours do nothing, and get the first answer again, with \`Idempotent-Replayed: true\`. Another body under the same key is
\`duplicate_resource\` (409). Where the first answer held a secret, or was not kept, it is \`idempotency_replay_unavailable\` (409).
What failed, and what changed nothing, is not remembered.

Rows with a cache have an \`ETag\`, the same in every process that says the same; a request that names it in \`If-None-Match\`
gets 304 and no body.

An \`item_reference\` in the \`input\` of \`/v1/responses\` stands for an item of an earlier response of the workspace, or of the same end user. Items are kept for
an hour after their last use ([how, and where](decisions/0044-item-references.md)), so \`createOpenAI\` of the AI SDK works as it is. \`store: true\`
is refused.

A GET of ${paths(routes.filter(({ webSocket }) => webSocket))} with \`Upgrade: websocket\` opens a WebSocket where the server accepts them, and is
\`upgrade_required\` (426) elsewhere: [websocket.md](websocket.md).

| method | path | access | rate class | stability | cache | query |
|---|---|---|---|---|---|---|
${routes.map(route => `| ${route.method} | \`${route.path}\` | ${access(route)} | ${route.rate} | ${route.tier} | ${route.cache ?? '–'} | ${query(route)} |`).join('\n')}

${routes.map(route => `## \`${route.method} ${route.path}\`\n\n${route.summary}\n\nErrors of its own: ${errors(route)}.`).join('\n\n')}
`

test('docs/api.md says what the route table says', () => {
  if (process.env.UPDATE_DOCS) writeFileSync(path, page)
  expect(readFileSync(path, 'utf8')).toBe(page)
})

test('docs/workspaces.md has each scope in its table once, and no other', () => {
  const text = readFileSync(resolve(import.meta.dirname, '../../../docs/workspaces.md'), 'utf8')
  const table = /^\| scope \|.*\n\|-.*\n((?:\|.*\n)+)/m.exec(text)?.[1] ?? ''
  const named = table.split('\n').flatMap(line => line.split('|')[1]?.match(/(?<=`)[^`, ]+(?=`)/g) ?? [])
  expect(named.sort()).toEqual([...scopes].sort())
})
