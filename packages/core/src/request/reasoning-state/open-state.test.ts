import { chatProvider, responsesProvider } from '@signalbox/dialects'
import type { InferenceEvent, InferenceRequest, Item } from '@signalbox/dialects/protocol'
import { originalOf, remember } from '@signalbox/dialects/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sealingKey } from '../../../test/state/fixture.ts'
import { type Candidate, makeCandidate } from '../../routing/plan.ts'
import { makeKeyRing } from '../../runtime/seal.ts'
import { makerOf, openState, sealState } from './envelope.ts'
import { openCarried } from './open-state.ts'
import { itemSealer, sealBatch } from './seal-items.ts'

const ring = makeKeyRing(() => [sealingKey])
const owner = { workspaceId: 'w', keyId: 'k' }
const logger = { info: () => {}, warn: () => {}, error: () => {} }
const candidate = (id: string, dialect = responsesProvider): Candidate =>
  makeCandidate({
    model: { id: 'm', family: 'f', offers: [] },
    offer: { provider: id, model: 'theirs', api: dialect.name },
    provider: { id, dialects: [dialect], endpoint: () => '', authorize: () => {} },
    credential: { id: `${id}-key`, owner: 'platform', secret: '' },
  })
const requestOf = (...input: readonly Item[]): InferenceRequest => ({
  prompt: { input },
  routing: { models: ['m'], allow_fallbacks: true },
  delivery: 'whole',
})
const said: Item = { type: 'message', role: 'user', content: [{ type: 'text', text: 'Hi' }] }
const maker = makerOf(candidate('a'))

test('any state is unchanged after sealing and opening, lone surrogates included', async () => {
  const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map(code => String.fromCharCode(code)) })
  await fc.assert(
    fc.asyncProperty(fc.option(anyText, { nil: undefined }), fc.option(fc.array(anyText), { nil: undefined }), async (text, words) => {
      const state = { maker, ...(text !== undefined && { text }), ...(words && { words }) }
      const envelope = await sealState(ring, owner, state)
      expect(envelope).toMatch(/^gw1\.[\w.-]+$/)
      expect(await openState(ring, owner, envelope)).toEqual(state)
      expect(await openState(ring, { ...owner, workspaceId: 'another' }, envelope)).toBeUndefined()
    }),
  )
})

test('the state of a user opens for that user only, and that of a key for every key of its workspace', async () => {
  const [ann, ben] = ['user:ann', 'user:ben'].map(keyId => ({ workspaceId: 'w', keyId, isEndUser: true as const }))
  const owners = [ann, ben, owner, { ...owner, keyId: 'other key' }, { ...owner, workspaceId: '["w","user:ann"]' }]
  const opened = async (by: (typeof owners)[number]) => {
    const envelope = await sealState(ring, by as typeof owner, { maker, text: 'theirs' })
    return Promise.all(owners.map(async each => (await openState(ring, each as typeof owner, envelope)) !== undefined))
  }
  expect(await opened(ann)).toEqual([true, false, false, false, false])
  expect(await opened(owner)).toEqual([false, false, true, true, false])
  expect(await opened(owners[4])).toEqual([false, false, false, false, true])
})

test('other values sealed under the same key do not open as state', async () => {
  const body = JSON.stringify({ v: 1, p: 'a', c: 'a-key', m: 'theirs', d: 'responses', t: 'x' })
  expect(
    await openState(ring, owner, `gw1.${await ring.seal(body, { purpose: 'reasoning state', workspaceId: 'w', bound: 'w' })}`),
  ).toBeUndefined()
})

test('state that was sealed before keys were derived per workspace still opens, in its workspace only', async () => {
  const old =
    'gw1.S7Bvjk46.AwMDAwMDAwMDAwMD.XtzVIWAZcmAKYnl-m3XTLo4e2s3Xt7hSQvy9k47HbJrVhUcA-JPENOykaXGv9MUxT0tmo-H2TlVRjXJtT-e3VA3sAJt1AfxYEQ'
  const before = makeKeyRing(() => [new Uint8Array(32).fill(7)])
  expect(await openState(before, owner, old)).toMatchObject({ text: 'thoughts', maker: { provider: 'p', dialect: 'chat' } })
  expect(await openState(before, { ...owner, workspaceId: 'other' }, old)).toBeUndefined()
})

test('an envelope of a later version is not opened', async () => {
  for (const body of ['{"v":2}', '{"v":1}', '[]', '{"v":1,"p":1,"c":"c","m":"m","d":"d"}'])
    expect(
      await openState(ring, owner, `gw1.${await ring.seal(body, { purpose: 'reasoning state', workspaceId: 'w', bound: 'reasoning\nw' })}`),
    ).toBeUndefined()
})

test('a conversation without state needs no promise', () => {
  expect(openCarried(requestOf(said, { type: 'reasoning', summary: ['Hm.'] }), owner, ring)).toBeUndefined()
})

test('a request that needs no change is passed on as the same object', async () => {
  const vendors: Item = remember<Item>(
    { type: 'reasoning', summary: [], encrypted_content: 'of the vendor' },
    { dialect: 'responses', body: {} },
  )
  const request = requestOf(said, vendors)
  const carried = await openCarried(request, owner, ring)
  const fitted = carried?.fit(candidate('a'), false)
  expect(fitted?.request).toBe(request)
  expect(fitted).toMatchObject({ warnings: [], carries: true })
})

test('the given request is not modified, and an unchanged item keeps its original', async () => {
  const envelope = await sealState(ring, owner, { maker, text: 'theirs' })
  const kept = remember<Item>({ ...said }, { dialect: 'responses', body: { kept: true } })
  const sealed: Item = { type: 'reasoning', id: 'rs', summary: ['Hm.'], encrypted_content: envelope }
  const request = requestOf(kept, sealed)
  const before = JSON.stringify(request.prompt)
  const carried = await openCarried(request, owner, ring)
  const mine = carried?.fit(candidate('a'), false)
  expect(mine?.request.prompt.input[0]).toBe(kept)
  expect(originalOf(mine?.request.prompt.input[0] ?? {})).toBeDefined()
  expect(mine?.request.prompt.input[1]).toEqual({ ...sealed, encrypted_content: 'theirs' })
  expect(carried?.fit(candidate('b'), false)).toMatchObject({ carries: false, warnings: [{ code: 'reasoning_state_dropped' }] })
  expect(carried?.fit(candidate('a'), true)).toMatchObject({ carries: false })
  expect([carried?.lastMade(candidate('a')), carried?.lastMade(candidate('b'))]).toEqual([1, undefined])
  expect(JSON.stringify(request.prompt)).toBe(before)
})

test('one warning counts all dropped states by reason', async () => {
  const reasoning = (encrypted_content: string): Item => ({ type: 'reasoning', summary: [], encrypted_content })
  const foreign = await sealState(ring, owner, { maker: { ...maker, credential: 'other' }, text: 'x' })
  const carried = await openCarried(
    requestOf(said, reasoning(foreign), reasoning('gw1.broken'), reasoning('raw'), reasoning('raw')),
    owner,
    ring,
  )
  const { request, warnings } = carried?.fit(candidate('a'), false) ?? {}
  expect(request?.prompt.input).toEqual([said])
  expect(warnings?.map(({ message }) => message)).toEqual([
    'The reasoning state of 4 items was left out: 1 made by another provider, account or model, 1 sealed for another workspace or user, sealed with a key that was removed, or modified, 2 in a format that this provider does not support.',
  ])
})

test('reasoning that a provider takes back as text is restored from the envelope alone', async () => {
  const provider = candidate('a', chatProvider)
  const finished: InferenceEvent = {
    type: 'item_finished',
    index: 0,
    item: { type: 'reasoning', summary: [], content: ['First.', '', 'Then.'] },
  }
  const [sealed] = await sealBatch(itemSealer(provider, { ring, logger, owner }), [finished])
  if (sealed?.type !== 'item_finished' || sealed.item.type !== 'reasoning') throw new Error('It stays an item.')
  const { content, ...bare } = sealed.item
  const carried = await openCarried(requestOf(bare), owner, ring)
  expect(carried?.fit(provider, false).request.prompt.input).toEqual([{ type: 'reasoning', summary: [], content: ['First.', 'Then.'] }])
})

test('a batch without reasoning is passed on unchanged and synchronously', () => {
  const seal = itemSealer(candidate('a'), { ring, logger, owner })
  const batch: readonly InferenceEvent[] = Array.from({ length: 100 }, () => ({
    type: 'delta',
    index: 0,
    delta: { kind: 'text', part: 0, text: 'word ' },
  }))
  expect(sealBatch(seal, batch)).toBe(batch)
  const started: readonly InferenceEvent[] = [{ type: 'item_started', index: 0, item: { type: 'reasoning', summary: [] } }]
  expect(sealBatch(seal, started)).toEqual(started)
})

test('an item that is not reasoning is passed on unchanged', () => {
  const seal = itemSealer(candidate('a'), { ring, logger, owner })
  const message: Item = { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hi' }] }
  const call: Item = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
  expect([seal(message), seal(call)].every((item, at) => item === [message, call][at])).toBe(true)
})

test('if sealing fails, the response continues without state', async () => {
  const broken = { ...ring, seal: () => Promise.reject(new Error('no crypto here')) }
  const seal = itemSealer(candidate('a'), { ring: broken, logger, owner })
  const finished: InferenceEvent = {
    type: 'item_finished',
    index: 0,
    item: { type: 'reasoning', summary: ['Hm.'], encrypted_content: 'x' },
  }
  expect(await sealBatch(seal, [finished])).toEqual([{ ...finished, item: { type: 'reasoning', summary: ['Hm.'] } }])
})

test('the last item with a maker’s state is its position, also if it is the first item, separately for each maker', async () => {
  const of = async (id: string): Promise<Item> => ({
    type: 'reasoning',
    summary: [],
    encrypted_content: await sealState(ring, owner, { maker: makerOf(candidate(id)), text: 'theirs' }),
  })
  const placesOf = async (...input: readonly Item[]) => {
    const carried = await openCarried(requestOf(...input), owner, ring)
    return ['a', 'b', 'c'].map(id => carried?.lastMade(candidate(id)))
  }
  expect(await placesOf(await of('a'), await of('b'))).toEqual([0, 1, undefined])
  expect(await placesOf(await of('b'), await of('a'), said, await of('b'))).toEqual([1, 3, undefined])
})
