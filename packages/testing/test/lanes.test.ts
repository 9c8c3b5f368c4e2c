import { chatProvider } from '@signalbox/dialects'
import type { Credential, Model, Provider } from '@signalbox/dialects/protocol'
import type { Caller } from '@signalbox/gateway'
import { expect, onTestFinished, test } from 'vitest'
import { fakeClock, testGateway } from '../src/index.ts'

// What a request may use is computed before it arrives. Each thing that it depends on is changed here, and the next request sees it.

const day = 86_400_000
const start = Date.parse('2027-03-01T00:00:00Z')
const price = { input: 1_000_000, output: 1_000_000 }

const modelWith = (...offers: readonly Partial<Model['offers'][number]>[]): Model => ({
  id: 'm',
  offers: offers.map((offer, index) => ({ provider: index === 0 ? 'a' : 'b', model: 'theirs', api: 'chat', price, ...offer })),
})

async function open(first: Model = modelWith({}, {})) {
  const clock = fakeClock({ now: start })
  const provider = (id: string): { -readonly [Field in keyof Provider]: Provider[Field] } => ({
    id,
    dialects: [chatProvider],
    credential: { id: `${id}:platform`, owner: 'platform', secret: `sk-${id}` },
    endpoint: () => `https://${id}.example/v1/chat/completions`,
    authorize: () => {},
  })
  const [a, b] = [provider('a'), provider('b')]
  const transport = () => Promise.reject(new Error('Nothing is called.'))
  const sealingKey = new Uint8Array(32).fill(7)
  const { gateway, caller, close } = await testGateway({ providers: [a, b], models: [first], clock, transport, sealingKey })
  onTestFinished(close)
  /** Each candidate as `provider credential input price`, or the code of the error. */
  const planned = async (by: Caller = caller): Promise<readonly string[] | string> => {
    const request = gateway.dialects.responses.decodeRequest({ model: 'm', input: 'Hi' }, () => undefined)
    const planning = gateway.plan(request, by)
    return planning.then(
      ({ candidates }) =>
        candidates.map(({ provider: { id }, credential, offer }) => `${id} ${credential.owner} ${(offer.price?.input ?? 0) / 1_000_000}`),
      ({ code }) => code,
    )
  }
  return { gateway, workspace: gateway.workspaces(caller.workspaceId), caller, clock, a, b, planned }
}

test('a changed setting of the workspace', async () => {
  const { workspace, planned } = await open()
  expect(await planned()).toEqual(['a platform 1', 'b platform 1'])
  await workspace.settings.update({ blockedProviders: ['a'] })
  expect(await planned()).toEqual(['b platform 1'])
  await workspace.settings.update({ blockedProviders: [], allowedModels: ['m'] })
  expect(await planned()).toEqual(['a platform 1', 'b platform 1'])
  await workspace.settings.update({ allowedModels: null, dataPolicyRequired: 'zdr' })
  expect(await planned()).toBe('routing_constraint_unsatisfiable')
  await workspace.settings.update({ dataPolicyRequired: null })
  expect(await planned()).toEqual(['a platform 1', 'b platform 1'])
})

test('a provider key of the workspace: added, disabled, enabled, deleted', async () => {
  const { workspace, planned } = await open()
  const { id } = await workspace.byokKeys.create({ provider: 'b', apiKey: 'sk-theirs-0123456789', name: 'own' })
  expect(await planned()).toEqual(['b workspace 1', 'a platform 1', 'b platform 1'])
  await workspace.settings.update({ ownKeysOnly: true })
  expect(await planned()).toEqual(['b workspace 1'])
  await workspace.byokKeys.update(id, { disabled: true })
  expect(await planned()).toBe('routing_constraint_unsatisfiable')
  await workspace.byokKeys.update(id, { disabled: false })
  expect(await planned()).toEqual(['b workspace 1'])
  await workspace.byokKeys.delete(id)
  await workspace.settings.update({ ownKeysOnly: null })
  expect(await planned()).toEqual(['a platform 1', 'b platform 1'])
})

test('a credential of the operator', async () => {
  const { a, planned } = await open()
  await planned()
  const { credential, ...keyless } = a
  Object.assign(a, { ...keyless, credential: undefined })
  expect(await planned()).toEqual(['b platform 1'])
  const second: Credential = { id: 'a:second', owner: 'platform', secret: 'sk-second' }
  Object.assign(a, { credential, moreCredentials: [second] })
  expect(await planned()).toEqual(['a platform 1', 'a platform 1', 'b platform 1'])
})

test('a refreshed catalog, with and without a restriction of the workspace', async () => {
  const { gateway, workspace, planned } = await open()
  const dearer = modelWith({ price: { input: 4_000_000, output: 1 } }, { price: { input: 5_000_000, output: 1 } })
  await planned()
  gateway.models.replace([dearer])
  expect(await planned()).toEqual(['a platform 4', 'b platform 5'])
  await workspace.settings.update({ blockedProviders: ['b'] })
  expect(await planned()).toEqual(['a platform 4'])
  gateway.models.replace([modelWith({}, {})])
  expect(await planned()).toEqual(['a platform 1'])
})

test('hours with another price, and an announced price', async () => {
  const windows = [{ from: '08:00', to: '09:00', input: 2_000_000, output: 2_000_000 }]
  const changes = [{ from: '2027-03-03', price: { input: 3_000_000, output: 3_000_000 } }]
  const { clock, planned } = await open(modelWith({ price: { ...price, windows, changes } }))
  const seen: unknown[] = [await planned()]
  for (const time of [start + day / 3, start + day / 3 + day / 24, start + 2 * day]) {
    await clock.advance(time - clock.now())
    seen.push(await planned())
  }
  expect(seen).toEqual([['a platform 1'], ['a platform 2'], ['a platform 1'], ['a platform 3']])
})

test('the models of a session, and a key that is revoked', async () => {
  const { gateway, workspace, planned } = await open()
  const sessionWith = async (models?: readonly string[]): Promise<Caller> => {
    const { token } = await workspace.sessions.create({ user: 'u', ...(models && { models }) })
    return gateway.authenticate(token)
  }
  await planned()
  expect(await planned(await sessionWith(['m']))).toEqual(['a platform 1', 'b platform 1'])
  gateway.models.replace([modelWith({}, {}), { ...modelWith({}), id: 'other' }])
  expect(await planned(await sessionWith(['other']))).toBe('routing_constraint_unsatisfiable')
  expect(await planned(await sessionWith())).toEqual(['a platform 1', 'b platform 1'])
  const { id, secret } = await workspace.apiKeys.create({ name: 'k', scopes: '*' })
  expect(await planned(await gateway.authenticate(secret))).toEqual(['a platform 1', 'b platform 1'])
  await workspace.apiKeys.revoke(id)
  await expect(gateway.authenticate(secret)).rejects.toMatchObject({ code: 'invalid_api_key' })
})

test('no secret is in a plan, of the operator or of the workspace', async () => {
  const { gateway, workspace, caller, a } = await open()
  await workspace.byokKeys.create({ provider: 'b', apiKey: 'sk-theirs-0123456789', name: 'own' })
  Object.assign(a, { moreCredentials: [{ id: 'a:second', owner: 'platform', secret: 'sk-second' }] })
  const request = gateway.dialects.responses.decodeRequest({ model: 'm', input: 'Hi' }, () => undefined)
  const plan = await gateway.plan(request, caller)
  expect(plan.candidates.length).toBe(4)
  expect(JSON.stringify(plan)).not.toContain('sk-')
})
