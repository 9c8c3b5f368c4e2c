import { describe, test } from 'vitest'
import { anthropicClient } from './drivers/anthropic.ts'
import { languages } from './drivers/languages.ts'
import { openaiClients } from './drivers/openai.ts'
import { scenes, streamedScenes } from './drivers/scenes.ts'

// Every language of clients, spoken by its vendor's own package, before every language of providers.

const clients = [...openaiClients, anthropicClient]
const pairs = languages.map((provider, at) => ({ provider, other: languages[(at + 1) % languages.length] ?? provider }))

describe.each(clients)('a client of $language', client => {
  describe.each(pairs)('before a provider of $provider.name', ({ provider, other }) => {
    describe.each([false, true])('streamed: %s', stream => {
      test.each(Object.entries({ ...scenes, ...(stream && streamedScenes) }))('%s', (_, play) => play({ client, provider, other, stream }))
    })
  })
})
