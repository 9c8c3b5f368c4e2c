import { responsesProvider } from '@signalbox/dialects'
import type { JsonObject, Model } from '@signalbox/dialects/protocol'
import type { GatewayOptions } from '@signalbox/gateway'
import { memoryStorage } from '@signalbox/storage-memory'
import { afterEach, expect, test } from 'vitest'
import { clients } from '../../../test/state/clients.ts'
import { type Act, ask, type Fixture, offerOf, openFixture, type Scripted, scripted, sealingKey } from '../../../test/state/fixture.ts'
import { canary, stateWriters } from '../../../test/state/state-writers.ts'

// How reasoning state is handled when the provider that made it is not the one that is called.

const closing: Fixture[] = []
afterEach(async () => {
  for (const fixture of closing.splice(0)) await fixture.close()
})

const named = <T>(all: readonly T[], is: (each: T) => boolean): T => {
  const found = all.find(is)
  if (!found) throw new Error('The test asks for a dialect that is not there.')
  return found
}
const writer = named(stateWriters, ({ name }) => name === 'responses')
const client = named(clients, ({ dialect }) => dialect === 'responses')

const state = `${canary}of-a`
const thinks: Act = writer.say({ state, call: 'call_1' })
const done: Act = writer.say({ state: `${canary}later`, text: 'Done.' })
const stale: Act = { status: 400, body: { error: { code: 'invalid_encrypted_content', message: 'It cannot be verified.', type: 'x' } } }

async function open(providers: readonly Scripted[], options: Partial<GatewayOptions> = {}): Promise<Fixture> {
  const fixture = await openFixture(providers, options)
  closing.push(fixture)
  return fixture
}

const provider = (id: string, ...acts: readonly Act[]): Scripted => {
  const made = scripted(id, responsesProvider)
  made.play(...acts)
  return made
}

/** The conversation after a first turn that `maker` answered. */
async function begun(fixture: Fixture, maker = 'a', model = 'model'): Promise<readonly JsonObject[]> {
  const history = [client.question('Go.')]
  const body = { ...client.body(history, false), model, gateway: { routing: { only: [maker] } } }
  const answered = await ask(fixture, 'responses', body)
  return [...history, ...client.turn(answered, true), client.result('call_1', 'Nothing.')]
}

const goOn = (fixture: Pick<Fixture, 'gateway' | 'caller'>, history: readonly JsonObject[], more: JsonObject = {}) =>
  ask(fixture, 'responses', { ...client.body(history, false), ...more })
const routed = (routing: JsonObject): JsonObject => ({ gateway: { routing } })

const seenBy = ({ calls }: Scripted) => writer.statesIn(calls.at(-1) ?? {})
const inputOf = ({ calls }: Scripted) => (calls.at(-1)?.input ?? []) as readonly JsonObject[]
const typesSeenBy = (each: Scripted) => inputOf(each).map(({ type }) => type)
const dropped = (message: string) => [{ code: 'reasoning_state_dropped', message, param: 'input[1]' }]
const foreign = dropped('The reasoning state of one item was left out: made by another provider, account or model.')
const unreadable = dropped(
  'The reasoning state of one item was left out: sealed for another workspace or user, sealed with a key that was removed, or modified.',
)

test('the provider that made the state is tried first, whatever the ranking is', async () => {
  const [b, a] = [provider('b'), provider('a', thinks, done)]
  const fixture = await open([b, a])
  const history = await begun(fixture)
  const { metadata } = await goOn(fixture, history)
  expect({ tried: metadata.routing?.provider, warnings: metadata.warnings, b: b.calls.length }).toEqual({ tried: 'a', warnings: [], b: 0 })
  expect(seenBy(a)).toEqual([state])
  const request = fixture.gateway.dialects.responses.decodeRequest({ model: 'model', ...client.body(history, false) })
  const plan = await fixture.gateway.plan(request, fixture.caller)
  expect(plan.candidates.map(each => each.provider.id)).toEqual(['a', 'b'])
  expect(plan.pinned?.map(each => each.provider.id)).toEqual(['a'])
  expect(plan.fidelity.map(({ features }) => features.filter(({ note }) => note === foreign[0]?.message).length)).toEqual([0, 1])
})

test('of several makers the latest goes first', async () => {
  const [a, b] = [provider('a', thinks, done), provider('b', writer.say({ state: `${canary}of-b`, call: 'call_2' }), done)]
  const fixture = await open([a, b])
  const first = await begun(fixture, 'a')
  const second = await goOn(fixture, first, routed({ only: ['b'] }))
  const history = [...first, ...client.turn(second, true), client.result('call_2', 'Nothing.')]
  const { metadata } = await goOn(fixture, history)
  expect(metadata.routing?.provider).toBe('b')
  expect(seenBy(b)).toEqual([`${canary}of-b`])
  expect(metadata.warnings).toEqual(foreign)
})

test('the order that the client sets is kept, and the state is dropped with a warning', async () => {
  const [a, b] = [provider('a', thinks), provider('b', done)]
  const fixture = await open([a, b])
  const { metadata, bytes } = await goOn(fixture, await begun(fixture), routed({ order: ['b'] }))
  expect(metadata.warnings).toEqual(foreign)
  expect(bytes).toContain('reasoning_state_dropped')
  expect(seenBy(b)).toEqual([])
})

test('an item without text or state is dropped; an item with text keeps it', async () => {
  const b = provider('b', done, done)
  const fixture = await open([provider('a', thinks, writer.say({ state, reasoning: 'Hm.', call: 'call_1' })), b])
  await goOn(fixture, await begun(fixture), routed({ ignore: ['a'] }))
  expect(typesSeenBy(b)).toEqual(['message', 'function_call', 'function_call_output'])
  await goOn(fixture, await begun(fixture), routed({ ignore: ['a'] }))
  expect(typesSeenBy(b)).toEqual(['message', 'reasoning', 'function_call', 'function_call_output'])
  expect(JSON.stringify(b.calls)).not.toContain(canary)
  expect(JSON.stringify(b.calls)).not.toContain('gw1.')
})

test('a request with strict state is refused if state would be dropped', async () => {
  const b = provider('b')
  const fixture = await open([provider('a', thinks), b])
  const asking = goOn(fixture, await begun(fixture), routed({ ignore: ['a'], strict: true }))
  await expect(asking).rejects.toMatchObject({ status: 400, code: 'capability_mismatch', facts: { param: 'input[1]' } })
  expect(b.calls).toEqual([])
})

test('a rate limited provider is not tried first, even if it made the state', async () => {
  const limited: Act = { status: 429, body: { error: { message: 'Slow down.' } } }
  const [a, b] = [provider('a', thinks, limited), provider('b', done, done)]
  const fixture = await open([a, b])
  const history = await begun(fixture)
  const first = await goOn(fixture, history)
  expect([first.metadata.routing?.provider, first.metadata.warnings]).toEqual(['b', foreign])
  const calls = a.calls.length
  expect((await goOn(fixture, history)).metadata.routing?.provider).toBe('b')
  expect(a.calls.length).toBe(calls)
})

test('state goes back only to the credential that made it', async () => {
  const storage = memoryStorage()
  const first = await open([provider('a', thinks)], { storage })
  const other = scripted('a', responsesProvider, { credential: { id: 'another', owner: 'platform', secret: 's' } })
  other.play(done)
  const { metadata } = await goOn({ ...(await open([other], { storage })), caller: first.caller }, await begun(first))
  expect(metadata.warnings).toMatchObject([{ code: 'reasoning_state_dropped' }])
  expect(seenBy(other)).toEqual([])
})

test('state does not open in another workspace', async () => {
  const a = provider('a', thinks, done)
  const fixture = await open([a])
  const { metadata } = await goOn({ gateway: fixture.gateway, caller: fixture.stranger }, await begun(fixture))
  expect(metadata.warnings).toEqual(unreadable)
  expect(seenBy(a)).toEqual([])
})

test('state opens after a change of the sealing key only if the old key is kept as a previous one', async () => {
  const a = provider('a', thinks, done, done)
  const storage = memoryStorage()
  const fixture = await open([a], { storage })
  const history = await begun(fixture)
  const fresh = new Uint8Array(32).fill(9)
  const { caller } = fixture
  const alone = await open([a], { storage, sealingKey: fresh })
  expect((await goOn({ gateway: alone.gateway, caller }, history)).metadata.warnings).toEqual(unreadable)
  const beside = await open([a], { storage, sealingKey: fresh, previousSealingKeys: [sealingKey] })
  expect((await goOn({ gateway: beside.gateway, caller }, history)).metadata.warnings).toEqual([])
})

test('a sealing key in hex digits is the same key as its bytes', async () => {
  const a = provider('a', thinks, done)
  const storage = memoryStorage()
  const fixture = await open([a], { storage })
  const history = await begun(fixture)
  const again = await open([a], { storage, sealingKey: '07'.repeat(32) })
  expect((await goOn({ gateway: again.gateway, caller: fixture.caller }, history)).metadata.warnings).toEqual([])
})

test('a provider that rejects the state is retried at once without any', async () => {
  const [a, b] = [provider('a', thinks, stale, done), provider('b')]
  const fixture = await open([a, b])
  const { metadata } = await goOn(fixture, await begun(fixture))
  expect(a.calls.slice(1).map(writer.statesIn)).toEqual([[state], []])
  expect(b.calls).toEqual([])
  expect(metadata.warnings).toEqual(dropped('The reasoning state of one item was left out: refused by the provider.'))
})

test('if the retry without state fails too, or no state was sent, the next provider is tried', async () => {
  const [a, b] = [provider('a', thinks, stale, stale, stale), provider('b', done, done)]
  const fixture = await open([a, b])
  const history = await begun(fixture)
  expect((await goOn(fixture, history)).metadata.routing?.provider).toBe('b')
  expect(a.calls.length).toBe(3)
  expect((await goOn(fixture, history.slice(0, 1))).metadata.routing?.provider).toBe('b')
  expect(a.calls.length).toBe(4)
})

test('the retry without state counts as an attempt', async () => {
  const a = provider('a', thinks, stale, done)
  const fixture = await open([a], { limits: { attempts: 1 } })
  await expect(goOn(fixture, await begun(fixture))).rejects.toMatchObject({ status: 400 })
  expect(a.calls.length).toBe(2)
})

test('state is sent to another model of the same family, and not to another family', async () => {
  const a = provider('a', thinks, done, done)
  const model = (id: string, family: string): Model => ({ id, family, offers: [offerOf(a, { model: `their-${id}` })] })
  const fixture = await open([a], { models: [model('one', 'x'), model('two', 'x'), model('three', 'y')] })
  const history = await begun(fixture, 'a', 'one')
  expect((await goOn(fixture, history, { model: 'two' })).metadata.warnings).toEqual([])
  expect(seenBy(a)).toEqual([state])
  expect((await goOn(fixture, history, { model: 'three' })).metadata.warnings).toEqual(foreign)
  expect(seenBy(a)).toEqual([])
})

test('state that a client got from the vendor directly is passed on unchanged, along with unknown fields', async () => {
  const a = provider('a', done)
  const fixture = await open([a])
  const reasoning = { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'gAAAAA-of-the-vendor', unheard_of: 1 }
  const { metadata } = await goOn(fixture, [client.question('Go.'), reasoning], { unheard_of: true })
  expect(metadata.warnings).toEqual([])
  expect(a.calls[0]).toMatchObject({ unheard_of: true, input: [{}, reasoning] })
})

test('vendor state from a Messages client is passed on too, also if other turns were answered by this gateway', async () => {
  const own = named(stateWriters, ({ name }) => name === 'messages')
  const caller = named(clients, ({ dialect }) => dialect === 'messages')
  const a = scripted('a', own.dialect)
  a.play(own.say({ state, reasoning: 'Hm.', call: 'call_1' }), own.say({ state, text: 'Done.' }))
  const fixture = await open([a])
  const reasoning = { type: 'thinking', thinking: 'Once.', signature: `${canary}of-the-vendor` }
  const history = [
    caller.question('Go.'),
    { role: 'assistant', content: [reasoning, { type: 'text', text: 'Well.' }] },
    caller.question('And?'),
  ]
  const first = await ask(fixture, 'messages', caller.body(history, false))
  await ask(fixture, 'messages', caller.body([...history, ...caller.turn(first, false), caller.result('call_1', 'Nothing.')], false))
  expect(a.calls.map(own.statesIn)).toEqual([[reasoning.signature], [reasoning.signature, state]])
  expect(first.metadata.warnings).toEqual([])
})

test('state sealed by a vendor is dropped for a provider of another dialect', async () => {
  const chat = named(stateWriters, ({ name }) => name.startsWith('chat'))
  const b = scripted('b', chat.dialect)
  b.play(chat.say({ state: '', text: 'Done.' }))
  const fixture = await open([b])
  const reasoning = { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'gAAAAA-of-the-vendor' }
  const { metadata } = await goOn(fixture, [client.question('Go.'), reasoning])
  expect(metadata.warnings).toEqual(
    dropped('The reasoning state of one item was left out: in a format that this provider does not support.'),
  )
  expect(JSON.stringify(b.calls)).not.toContain('gAAAAA')
})

test('unknown fields of an item are kept in both directions beside its state', async () => {
  const base = writer.say({ state, call: 'call_1' })
  if (!('whole' in base)) throw new Error('An answer is no failure.')
  const output = (base.whole.output as readonly JsonObject[]).map(item => ({ ...item, unheard_of: item.type }))
  const a = provider('a', { ...base, whole: { ...base.whole, output } }, done)
  const fixture = await open([a])
  const history = await begun(fixture)
  expect(history[1]).toMatchObject({ type: 'reasoning', unheard_of: 'reasoning', encrypted_content: expect.stringMatching(/^gw1\./) })
  await goOn(fixture, history)
  expect(inputOf(a)[1]).toMatchObject({ unheard_of: 'reasoning', encrypted_content: state })
})

test.each([
  ['a key that is too short', { sealingKey: new Uint8Array(16) }, '`sealingKey` is 16 bytes'],
  [
    'a key in hex that is too short',
    { sealingKey: 'ab'.repeat(31) },
    '`sealingKey` is 31 bytes; it takes 32 random bytes, or 64 hex digits',
  ],
  ['a key in hex of zeros alone', { sealingKey: '00'.repeat(32) }, '`sealingKey` is all zeros'],
  ['a key of other text', { sealingKey: 'correct horse battery staple' }, '`sealingKey` is a string that is not hex'],
  [
    'an older key that is too long',
    { sealingKey, previousSealingKeys: [sealingKey, new Uint8Array(33)] },
    '`previousSealingKeys[1]` is 33 bytes',
  ],
  ['older keys alone', { sealingKey: undefined, previousSealingKeys: [sealingKey] }, 'without a `sealingKey`'],
])('the gateway does not start with %s', async (_, options, message) => {
  await expect(openFixture([], options as Partial<GatewayOptions>)).rejects.toThrow(message)
})
