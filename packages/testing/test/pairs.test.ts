import { describe, test } from 'vitest'
import { clients } from './drivers/clients.ts'
import { languages } from './drivers/languages.ts'
import { scenes, streamedScenes } from './drivers/scenes.ts'

// Every language of clients before every language of providers.

const providers = languages.map((provider, at) => ({ provider, other: languages[(at + 1) % languages.length] ?? provider }))

describe.each(clients)('a client of $language', client => {
  describe.each(providers)('before a provider of $provider.name', ({ provider, other }) => {
    describe.each([false, true])('streamed: %s', stream => {
      test.each(Object.entries({ ...scenes, ...(stream && streamedScenes) }))('%s', (_, play) => play({ client, provider, other, stream }))
    })
  })
})
