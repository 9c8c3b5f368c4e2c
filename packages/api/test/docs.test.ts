import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { scopes } from '@signalbox/core/resources'
import { codes } from '@signalbox/dialects/errors'
import { expect, test } from 'vitest'
import type { Route } from '../src/route.ts'
import { allRoutes as routes } from '../src/routes.ts'

const path = resolve(import.meta.dirname, '../../../docs/api.md')

const access = ({ needs }: Route): string =>
  needs === 'nothing' ? 'public' : needs === 'any key' ? 'any key' : needs.map(scope => `\`${scope}\``).join(' or ')

const query = ({ query: parameters }: Route): string => (parameters ?? []).map(({ name }) => `\`${name}\``).join(', ') || '–'

const errors = ({ errors: list }: Route): string => list.map(code => `\`${code}\` (${codes[code].status})`).join(', ') || '–'

const paths = (rows: readonly Route[]): string => new Intl.ListFormat('en-GB').format(rows.map(({ path }) => `\`${path}\``))

/** The page that follows from the table. `UPDATE_DOCS=1 pnpm test packages/api/test/docs` writes it. */
const page = `# The API

Generated from \`packages/api/src/routes.ts\`; a test keeps it up to date. \`GET /v1/openapi.json\` is the complete description, with all schemas.

Send the key as \`Authorization: Bearer ak_…\`. Every endpoint that needs a key can also return \`invalid_api_key\` (401),
\`operation_not_allowed\` (403), \`requests_per_min_exceeded\` (429) and \`service_unavailable\` (503). See [errors.md](errors.md).

${paths(routes.filter(({ keyHeader }) => keyHeader))} also accept the
key in \`x-api-key\` if there is no \`Authorization\` header. ${paths(routes.filter(({ idHeader }) => idHeader))} return
\`request-id\` in addition to \`X-Request-ID\`, and use the error format of the Messages API.

Endpoints under \`/v1/workspaces/\` accept only the workspace of the key; any other workspace is 404, like a resource that does not exist. They
refuse unknown query parameters and body fields, and reply 202 to changes. Lists that can grow
are paged: \`limit\` is 1 to 100 (default 20), \`after\` is an id, and the response has \`has_more\` and \`next\`.

A POST to one of them can have an \`Idempotency-Key\` of 1 to 255 visible ASCII characters: repeating the request with the same key and body within
24 hours does nothing and returns the first response, with \`Idempotent-Replayed: true\`. The same key with another body is
\`duplicate_resource\` (409). If the first response contained a secret or is no longer stored, the reply is \`idempotency_replay_unavailable\` (409).
Requests that failed or changed nothing are not remembered.

Endpoints with a cache return an \`ETag\`, which is the same in every process with the same data. A request that sends it as
\`If-None-Match\` gets 304 without a body.

An \`item_reference\` in the \`input\` of \`/v1/responses\` refers to an item of an earlier response of the same workspace, or of the same end user. Items are stored for
an hour after their last use, so \`createOpenAI\` of the AI SDK works without changes. \`store: true\`
is refused.

A GET of ${paths(routes.filter(({ webSocket }) => webSocket))} with \`Upgrade: websocket\` opens a WebSocket if the server supports them, and is
\`upgrade_required\` (426) otherwise: [websocket.md](websocket.md).

| method | path | access | rate class | stability | cache | query |
|---|---|---|---|---|---|---|
${routes.map(route => `| ${route.method} | \`${route.path}\` | ${access(route)} | ${route.rate} | ${route.tier} | ${route.cache ?? '–'} | ${query(route)} |`).join('\n')}

${routes.map(route => `## \`${route.method} ${route.path}\`\n\n${route.summary}\n\nSpecific errors: ${errors(route)}.`).join('\n\n')}
`

test('docs/api.md matches the route table', () => {
  if (process.env.UPDATE_DOCS) writeFileSync(path, page)
  expect(readFileSync(path, 'utf8')).toBe(page)
})

test('docs/workspaces.md lists each scope once, and no other', () => {
  const text = readFileSync(resolve(import.meta.dirname, '../../../docs/workspaces.md'), 'utf8')
  const table = /^\| scope \|.*\n\|-.*\n((?:\|.*\n)+)/m.exec(text)?.[1] ?? ''
  const named = table.split('\n').flatMap(line => line.split('|')[1]?.match(/(?<=`)[^`, ]+(?=`)/g) ?? [])
  expect(named.sort()).toEqual([...scopes].sort())
})
