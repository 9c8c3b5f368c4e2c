import { toFetchHandler } from '@signalbox/fetch-handler'
import { serve } from '@signalbox/node-http'
import { expect, onTestFinished, test } from 'vitest'
import { testGateway } from '../src/gateway.ts'

/** The client address in the audit row of a key created this way. Forwarding headers are untrusted. */
async function addressOf(
  send: (path: string, init: RequestInit) => Promise<Response>,
  workspaceId: string,
  secret: string,
): Promise<unknown> {
  const headers = {
    authorization: `Bearer ${secret}`,
    'content-type': 'application/json',
    'x-forwarded-for': '203.0.113.9',
    forwarded: 'for=203.0.113.9',
  }
  const made = await send(`/v1/workspaces/${workspaceId}/api-keys`, { method: 'POST', headers, body: '{"name":"new"}' })
  expect(made.status).toBe(202)
  const audit = await send(`/v1/workspaces/${workspaceId}/audit-events?limit=1`, { headers })
  const { data } = (await audit.json()) as { readonly data: readonly { readonly ip: unknown; readonly request_id: unknown }[] }
  expect(data[0]?.request_id).toBe(made.headers.get('x-request-id'))
  return data[0]?.ip
}

test('over a socket the audit has the remote address of the connection, whatever the headers', async () => {
  const { gateway, secret, caller } = await testGateway()
  const { url, close } = await serve(gateway, { port: 0 })
  onTestFinished(() => close())
  expect(await addressOf((path, init) => fetch(url + path, init), caller.workspaceId, secret)).toMatch(/^(::1|(::ffff:)?127\.0\.0\.1)$/)
})

test('a fetch handler has the address that its runtime provides, or none', async () => {
  const { gateway, secret, caller } = await testGateway()
  const asking = (handler: ReturnType<typeof toFetchHandler>) => (path: string, init: RequestInit) =>
    handler(new Request(`http://x${path}`, init))
  const told = toFetchHandler(gateway, { ip: request => (request.method === 'POST' ? '192.0.2.1' : undefined) })
  expect(await addressOf(asking(told), caller.workspaceId, secret)).toBe('192.0.2.1')
  expect(await addressOf(asking(toFetchHandler(gateway)), caller.workspaceId, secret)).toBeNull()
})

test('accepting an invite over a socket is audited with address and request id', async () => {
  const { gateway, caller } = await testGateway()
  const { url, close } = await serve(gateway, { port: 0 })
  onTestFinished(() => close())
  const workspace = gateway.workspaces(caller.workspaceId)
  const { token } = await workspace.invites.create({ email: 'ada@example.com', role: 'viewer' })
  const accepted = await fetch(`${url}/v1/invites/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, name: 'Ada' }),
  })
  expect(accepted.status).toBe(202)
  const [event] = await workspace.auditEvents.list({ event: 'invite.accepted' })
  expect(event?.requestId).toBe(accepted.headers.get('x-request-id'))
  expect(event?.ip).toMatch(/127\.0\.0\.1$/)
})
