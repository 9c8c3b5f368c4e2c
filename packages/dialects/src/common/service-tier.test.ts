import { expect, test } from 'vitest'
import { chatClient } from '../chat/client.ts'
import type { Quirks } from '../protocol/model.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { providerDialects } from '../providers.ts'
import { responsesClient } from '../responses/client.ts'

type DialectName = 'responses' | 'chat' | 'messages' | 'gemini' | 'bedrock'

const encode = (...[name, service_tier, client, quirks = {}]: [DialectName, string, 'chat' | 'responses', Quirks?]) => {
  const said: JsonObject = client === 'chat' ? { messages: [{ role: 'user', content: 'Hi' }] } : { input: 'Hi' }
  const { decodeRequest } = client === 'chat' ? chatClient : responsesClient
  const offer = { provider: 'p', model: 'm', api: name }
  const { body, warnings } = providerDialects[name].encodeRequest(decodeRequest({ model: 'm', service_tier, ...said }), offer, quirks)
  return [body.service_tier ?? body.serviceTier, warnings.map(({ param }) => param)]
}

test.each([
  ['responses', 'on_demand', 'default'],
  ['responses', 'standard_only', 'default'],
  ['responses', 'flex', 'flex'],
  ['messages', 'on_demand', 'standard_only'],
  ['gemini', 'on_demand', undefined],
  ['gemini', 'flex', 'flex'],
  ['bedrock', 'standard', undefined],
] as const)('%s is sent the tier %s of a Chat client as %s', (name, tier, sent) => {
  expect(encode(name, tier, 'chat')).toEqual([sent, []])
})

test.each(['responses', 'messages', 'gemini', 'bedrock', 'chat'] as const)('%s is not sent an unknown tier', name => {
  expect(encode(name, 'performance', name === 'chat' ? 'responses' : 'chat')).toEqual([undefined, ['service_tier']])
})

test('a host receives its own names of tiers', () => {
  expect(encode('chat', 'on_demand', 'chat')).toEqual(['on_demand', []])
})

test.each(['on_demand', 'default', 'standard', 'standard_only'])(
  'a host with a name of its own for the standard tier gets it for %s',
  tier => {
    for (const client of ['chat', 'responses'] as const)
      expect(encode('chat', tier, client, { standardTier: 'on_demand' })).toEqual(['on_demand', []])
  },
)

test.each(['auto', 'flex'])('the standard tier’s name does not stand for %s', tier => {
  for (const client of ['chat', 'responses'] as const)
    expect(encode('chat', tier, client, { standardTier: 'on_demand' })).toEqual([tier, []])
})
